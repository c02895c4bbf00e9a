// The parts of a bucket sort that do not depend on the item type: the exchange of counts, the
// choice of the exchange strategy, the exchange itself, and the times of the phases.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/sort/options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

class exchange_driver {
 public:
  /// Collective. Calls `check` first, which may throw on some ranks. Throws errc::unsupported, on
  /// all ranks, for options that why_not refuses, and for a stable sort by an exchange that is not
  /// deterministic. Throws errc::usage, on all ranks, if the ranks pass different options, keys or
  /// sizes of items.
  exchange_driver(team& team, const bucket_options& options, std::size_t item_bytes,
                  std::string_view keys, const shared_function<void()>& check);

  /// Begins an operation, that is a sort or an exchange, and the first phase.
  void begin();
  /// Ends the current phase, stores its time and begins the next phase.
  void end_phase(double bucket_phases::*phase);
  /// Makes exchange_counts() fail on all ranks, because of a wrong key of this rank.
  void refuse_key(std::string reason) { key_refusal_ = std::move(reason); }
  /// Collective. Completes counts() from outgoing_counts(), chooses the exchange if the option is
  /// auto, and prepares the exchange. `items`: the number of this rank's items. Throws errc::usage
  /// on a rank that refused a key, and errc::peer_failed on the other ranks.
  ///
  /// `divides`: whether this rank has counted its items by part. Returns whether all ranks have
  /// counted theirs by part.
  bool exchange_counts(std::size_t items, bool divides = false);
  /// Collective. Sends each rank its share of `to`, in the order of ranks, and receives a share of
  /// `from` from each rank. All shares have the same size.
  void exchange_numbers(const std::vector<std::size_t>& to, std::vector<std::size_t>& from);
  /// Ends the operation. `items`: the number of this rank's items.
  void end(std::size_t items);

  [[nodiscard]] const block_counts& counts() const noexcept { return counts_; }
  /// counts().outgoing, for the caller to set.
  [[nodiscard]] std::span<std::size_t> outgoing_counts() noexcept;
  /// Where the block for each rank begins, in items.
  [[nodiscard]] const std::vector<std::size_t>& outgoing_starts() const noexcept { return starts_; }
  /// The exchange in use, after exchange_counts().
  [[nodiscard]] block_exchange& exchange() const noexcept { return *exchange_; }
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] tasks& workers() noexcept {
    return options_.workers != nullptr ? *options_.workers : calling_thread_;
  }
  [[nodiscard]] const bucket_options& options() const noexcept { return options_; }
  [[nodiscard]] const bucket_phases& phases() const noexcept { return phases_; }
  [[nodiscard]] const bucket_phases& waits() const noexcept { return waits_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  [[nodiscard]] const traffic& moved_in_exchange() const noexcept { return moved_in_exchange_; }
  [[nodiscard]] exchange_strategy strategy() const noexcept { return strategy_; }

 private:
  void count_small_messages(traffic& moved, std::size_t bytes) const noexcept;
  void choose_strategy(std::size_t max_items_of_rank);

  team& team_;
  bucket_options options_;
  std::size_t item_bytes_;
  tasks calling_thread_;
  exchange_strategy strategy_;
  std::unique_ptr<block_exchange> exchange_;
  block_counts counts_;
  std::vector<std::size_t> starts_;
  std::string key_refusal_;
  double phase_began_ = 0, waited_before_phase_ = 0;
  bucket_phases phases_, waits_;
  traffic sent_before_, sent_before_exchange_, moved_, moved_in_exchange_;
  traffic numbers_;  // of the exchanges of counts and numbers
};

/// Collective; all ranks give the same arguments and get the same result. `block_bytes` is the
/// approximate size of a block from one rank to another.
///
/// On one node, choose_exchange chooses direct, which moves every item once and sends nothing. On
/// several nodes, it measures direct, sendrecv, channel, alltoallv, two-hop and (unless
/// `deterministic`) put by turns (fastest_by_turns) with blocks of this size, at most 16 MiB per
/// rank. The team keeps the choice until the run ends, for all block sizes with the same next power
/// of two. With LONGSHORE_PROFILE=off, choose_exchange measures nothing and chooses direct. Cost:
/// four exchanges of each candidate, at most 0.4 s of further exchanges of the fastest candidates,
/// and the memory of all candidates.
[[nodiscard]] exchange_strategy choose_exchange(team& team, std::size_t block_bytes,
                                                bool deterministic);

}  // namespace longshore::detail
