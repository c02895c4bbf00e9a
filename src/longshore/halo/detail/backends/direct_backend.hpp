// Mode direct: each rank copies the cells of a neighbour on its node directly from the neighbour's
// memory into its own halo. There is one copy, no packing and no message.
//
// Two neighbours synchronise by two counters of exchanges: `ready` tells that the owner's cells may
// be read, and `taken` tells that the neighbour has read them. Each rank polls counters in its own
// memory, into which its neighbours write. So no rank polls memory that another rank may have
// freed.
//
// Cost: one copy of each byte. A rank waits for its neighbours in every exchange. To make a plan, a
// rank sends each neighbour on the node one handshake message, or two between processes. Memory per
// rank: 128 bytes per neighbour and round.
#pragma once

#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/halo/detail/backends/polled_backend.hpp>
#include <longshore/halo/detail/copy/copy_batch.hpp>
#include <longshore/transport/detail/direct_signals.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
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

class direct_backend final : public polled_backend {
 public:
  /// `memory_owners` keep the memory alive to which the links refer. `received` has the address of
  /// each incoming message, indexed by message pair.
  direct_backend(team& ranks, std::vector<direct_link> links,
                 std::vector<std::shared_ptr<const void>> memory_owners,
                 std::vector<const std::byte*> received, traffic moved,
                 const backend_options& options);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return links_to_read_.size(); }
  [[nodiscard]] std::size_t pending_sends() const override { return links_being_read_.size(); }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] halo_transfers transfers() const override { return {.read = moved_.payload_bytes}; }

 private:
  team& ranks_;
  std::vector<direct_link> links_;
  std::vector<std::shared_ptr<const void>> memory_owners_;
  std::vector<const std::byte*> received_;
  traffic moved_;
  tasks* workers_;
  std::size_t touched_bytes_;
  std::uint64_t exchange_number_ = 0;
  // Indices of links whose cells this rank, or the peer, has not read in this exchange.
  std::vector<std::size_t> links_to_read_, links_being_read_;
};

}  // namespace longshore::detail
