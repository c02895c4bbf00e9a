// Mode direct: each rank copies the cells of a neighbour on the same node straight from that
// neighbour's memory into its own halo. One copy, no packing, no message.
//
// Two neighbours signal each other with two counters of exchanges: `ready` (the owner's cells may
// be read) and `taken` (they have been read). A rank polls counters in its own memory, into which
// its neighbours write. So it never polls memory that its owner may have freed.
//
// Cost: no message, one copy of each byte; neighbours proceed in step. The handshake of a plan is
// one message to each neighbour on the node, or two between processes. Memory per rank: 128 bytes
// per neighbour and round.
#pragma once

#include <longshore/halo/detail/backends/polled_backend.hpp>
#include <longshore/halo/detail/copy/copy_batch.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace longshore::detail {

/// The signals of one neighbour to this rank in one round: numbers of exchanges. Only the neighbour
/// writes them.
struct alignas(128) direct_signals {
  std::atomic<std::uint64_t> ready, taken;
};

/// The copies and the signals between one rank and one of its neighbours in one round.
struct direct_link {
  int peer = -1;
  direct_signals* mine = nullptr;    ///< in the memory of this rank, written by the peer
  direct_signals* theirs = nullptr;  ///< in the memory of the peer, written by this rank
  copy_batch copies;                 ///< from the peer's memory; empty: this rank reads nothing
  bool is_read = false;              ///< whether the peer reads cells of this rank
};

class direct_backend final : public polled_backend {
 public:
  /// `keep`: owners of the memory that the links refer to. `received`: by pair.
  direct_backend(std::vector<direct_link> links, std::vector<std::shared_ptr<const void>> keep,
                 std::vector<const std::byte*> received, traffic moved, tasks* workers);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return to_read_.size(); }
  [[nodiscard]] std::size_t pending_sends() const override { return read_by_.size(); }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
  [[nodiscard]] traffic moved() const override { return moved_; }

 private:
  std::vector<direct_link> links_;
  std::vector<std::shared_ptr<const void>> keep_;
  std::vector<const std::byte*> received_;
  traffic moved_;
  tasks* workers_;
  std::uint64_t exchange_ = 0;
  std::vector<std::size_t> to_read_, read_by_;  // links with a pending receive, or send
};

}  // namespace longshore::detail
