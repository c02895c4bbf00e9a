// The options of plans for gather, scatter and updates, and which strategy a plan has chosen.
#pragma once

#include <longshore/aggregate/engine_stats.hpp>
#include <longshore/gather/detail/tuning/choice.hpp>
#include <longshore/gather/strategy.hpp>

#include <cstddef>

namespace longshore {

/// Words of this file: the strategies exstack, exstack2, conveyor and aggregator *aggregate*
/// requests in buffers. Of these, exstack2, conveyor and aggregator are *asynchronous*: they use an
/// engine (aggregate/), and ranks need not exchange buffers at the same time. agp and direct access
/// each element by itself. Strategy auto is `automatic`, because auto is a keyword of C++.
struct gather_options {
  /// With `automatic`, measurements on this machine choose the strategy. They also choose
  /// buffer_items and hops; values given here are then ignored.
  gather_strategy strategy = gather_strategy::automatic;
  /// Capacity of the buffer for each destination, with strategies that aggregate. If 0, the plan
  /// chooses 1024. Between hosts it chooses up to 8192, and up to 32768 for exstack, because a
  /// network carries few large messages faster than many small ones; the buffers of a rank then
  /// take about 16 MiB at most.
  ///
  /// If a rank has a buffer for every rank, and these buffers would take more than 4 MiB, they are
  /// only as large as the calls need. The need follows from expected_requests or, if that is 0,
  /// from the largest call so far.
  std::size_t buffer_items = 0;
  /// The number of hops of strategy conveyor: 1, 2 or 3. If 0, the plan chooses. It chooses 2 hops
  /// for more than 128 ranks, if there are several nodes with several ranks each, and else 1 hop.
  int hops = 0;
  /// For strategies that aggregate: whether a rank merges its requests for the same element while
  /// they are in one buffer. An update combines the values, a scatter keeps the later value, and a
  /// gather requests the element once. Gather with an asynchronous strategy also merges a request
  /// with an equal request that was sent and has no reply yet. Merging costs some nanoseconds per
  /// index, and pays if few elements are requested often.
  bool combine = false;
  /// For strategy auto: the largest number of requests of this rank in one call, or 0 if unknown.
  /// The plan takes the maximum over all ranks and chooses a strategy once. If all ranks pass 0,
  /// and the best strategy depends on the number of requests, then the ranks find this maximum in
  /// calls of the plan, by a reduction.
  std::size_t expected_requests = 0;
};
using scatter_options = gather_options;
using update_options = gather_options;

/// The number of buffers per destination in scatter and update with asynchronous strategies. Their
/// requests have no replies, so a sender runs ahead until its buffers are full. With 2 buffers,
/// ranks on MPI spend a quarter of their time waiting for a free buffer. For gather 2 suffice: a
/// sender with many requests under way has to wait for replies, not for buffers.
inline constexpr int request_slots = 4;

/// The strategies that a plan uses, and the origin of this choice.
struct gather_decision {
  enum class origin {
    asked,     ///< the caller named the strategy
    rule,      ///< not measured: direct if all memory can be reached, else exstack
    profile,   ///< measurements of an earlier run
    measured,  ///< measurements of this run
  };
  origin from = origin::asked;
  /// The choice for each class of calls. Calls are classified by the largest number of requests of
  /// a rank; detail::measured_requests has a typical number for each class.
  detail::choices_by_size by_size = {};
  /// Whether every rank can load from and store to the memory of every other rank.
  bool all_reachable = false;

  [[nodiscard]] bool depends_on_requests() const noexcept;
};
template <>
inline constexpr enum_names<4> all_names<gather_decision::origin> = {
    "origin of a decision", {"asked", "rule", "profile", "measured"}};

namespace detail {

/// `options` with the strategy, buffer_items and hops of `choice`.
[[nodiscard]] inline gather_options apply_choice(gather_options options,
                                                 const gather_choice& choice) {
  options.strategy = choice.strategy;
  options.buffer_items = choice.buffer_items;
  options.hops = choice.hops;
  return options;
}

}  // namespace detail
}  // namespace longshore
