// Mode direct: each rank copies the cells of a neighbour on its node directly from the neighbour's
// memory into its own halo. There is one copy, no packing and no message.
//
// Two neighbours synchronise by two counters of exchanges: `ready` tells that the owner's cells may
// be read, and `taken` tells that the neighbour has read them. Each rank polls counters in its own
// memory, into which its neighbours write. So no rank polls memory that another rank may have
// freed.
//
// Cost: one copy of each byte. A rank waits for its neighbours in every exchange. To make a plan, a
// rank sends each neighbour on the node one handshake message, and a second one if ranks are
// processes. Memory per rank: 128 bytes per neighbour and round.
#pragma once

#include <longshore/exchange/detail/copy/copy_batch.hpp>
#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/transport/detail/direct_signals.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

/// The copies and the signals between this rank and one of its neighbours in one round.
struct direct_link {
  int peer = -1;
  direct_signals* signals_from_peer = nullptr;  ///< in the memory of this rank
  direct_signals* signals_to_peer = nullptr;    ///< in the memory of the peer
  copy_batch copies{copy_source::other_rank};   ///< empty if this rank reads nothing
  bool peer_reads = false;                      ///< whether the peer reads cells of this rank
};

/// The direct messages of one round.
struct direct_messages {
  std::vector<direct_link> links;
  std::vector<std::shared_ptr<const void>> memory_owners;  ///< of the memory of the links
  std::vector<const std::byte*> received;  ///< incoming messages, indexed by message pair
  traffic moved;
};

class direct_backend final : public polled_backend {
 public:
  direct_backend(team& ranks, direct_messages messages, const backend_options& options);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return links_to_read_.size(); }
  [[nodiscard]] std::size_t pending_sends() const override { return links_being_read_.size(); }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return messages_.received[pair];
  }
  [[nodiscard]] traffic moved() const override { return messages_.moved; }
  [[nodiscard]] halo_transfers transfers() const override {
    return {.read = messages_.moved.payload_bytes};
  }

 private:
  team& ranks_;
  direct_messages messages_;
  tasks* workers_;
  std::size_t touched_bytes_;
  std::uint64_t exchange_number_ = 0;
  // Indices of the links whose cells are still to be read: by this rank, and by the peer.
  std::vector<std::size_t> links_to_read_, links_being_read_;
};

/// Decides whether an outgoing message is transferred by direct reads, if the receiver can map its
/// cells. REQUIRES: the decision depends on the message only.
using direct_filter = std::function<bool(const halo_message&)>;

/// Collective over neighbours. Makes a direct backend for each round, or null if this rank has no
/// direct messages in the round. The backends transfer a message between ranks of a node if the
/// sender's `filter` accepts the message and the receiver can map its cells. These messages are
/// removed from `rounds`, at the sender and at the receiver.
[[nodiscard]] std::vector<std::unique_ptr<direct_backend>> make_direct_backends(
    const rank_grid& grid, std::vector<halo_round>& rounds, const backend_options& options,
    const direct_filter& filter);

}  // namespace longshore::detail
