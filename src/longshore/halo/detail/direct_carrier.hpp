// Mode direct: a neighbour on the same node reads the cells from where they lie, and writes them to
// where they belong. One copy, no packing, no message.
//
// Two counters per pair say how far each is: `ready`, my cells may be read, and `taken`, I have
// read yours. Each rank polls its own memory, into which its neighbours write: so nothing is
// touched that its owner may have given up already.
//
// Cost: no message, one copy of each byte; neighbours go in step. A plan asks its neighbours on the
// node only, by one letter each, or two between processes. Memory per rank: 128 bytes per neighbour
// and round.
#pragma once

#include <longshore/halo/detail/copy_batch.hpp>
#include <longshore/halo/detail/polled_carrier.hpp>
#include <longshore/halo/mode.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

/// What one neighbour tells this rank in one round: numbers of exchanges. Written by the neighbour
/// only.
struct alignas(128) direct_signals {
  std::atomic<std::uint64_t> ready, taken;
};

/// What one rank and one of its neighbours have to do with each other in one round.
struct direct_link {
  int peer = -1;
  direct_signals* mine = nullptr;    ///< what the peer says
  direct_signals* theirs = nullptr;  ///< what the peer hears
  copy_batch copies;                 ///< from the peer's memory; empty: this rank reads nothing
  bool is_read = false;              ///< whether the peer reads
};

class direct_carrier final : public polled_carrier {
 public:
  /// `keep`: what must live for as long as the links are used. `received`: by leg.
  direct_carrier(std::vector<direct_link> links, std::vector<std::shared_ptr<const void>> keep,
                 std::vector<const std::byte*> received, traffic moved, tasks* workers);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t missing() const override { return to_read_.size(); }
  [[nodiscard]] std::size_t untaken() const override { return read_by_.size(); }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t leg) const override { return received_[leg]; }
  [[nodiscard]] traffic moved() const override { return moved_; }

 private:
  std::vector<direct_link> links_;
  std::vector<std::shared_ptr<const void>> keep_;
  std::vector<const std::byte*> received_;
  traffic moved_;
  tasks* workers_;
  std::uint64_t exchange_ = 0;
  std::vector<std::size_t> to_read_, read_by_;  // links that are still waited for
};

/// Collective over neighbours. Takes out of the rounds the messages between ranks of one node that
/// are `wanted` and whose cells the receiver can reach, and gives a carrier for them per round:
/// null where a rank has none. Both ends of a message decide alike. REQUIRES: the sender's `wanted`
/// depends on nothing but the message.
[[nodiscard]] std::vector<std::unique_ptr<direct_carrier>> take_direct(
    const rank_grid& grid, std::vector<halo_round>& rounds, const carrier_options& options,
    const std::function<bool(const halo_message&)>& wanted);

}  // namespace longshore::detail
