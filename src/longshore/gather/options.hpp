// The options of plans for gather, scatter and updates, and the decision that a plan makes from
// them.
#pragma once

#include <longshore/gather/detail/tuning/choice.hpp>
#include <longshore/gather/strategy.hpp>

#include <cstddef>
#include <string_view>

namespace longshore {

struct gather_options {
  /// automatic: measurements on this machine choose strategy, buffer_items and hops
  gather_strategy strategy = gather_strategy::automatic;
  /// of strategies that aggregate: items per destination in one exchange
  std::size_t buffer_items = 1024;
  /// of strategy conveyor: 1, 2 or 3; 0: chosen, that is 2 for more than
  /// 128 ranks on several nodes of several ranks each, else 1
  int hops = 0;
  /// Of strategies that aggregate: requests for one element that wait in the same buffer become
  /// one. Gather requests the element once, an update combines the values, scatter keeps the later
  /// value. Costs some nanoseconds per index; pays if few elements are requested often.
  bool combine = false;
  /// Of strategy auto: the largest number of requests of a rank in one call, if known; the maximum
  /// over the ranks counts. The plan then chooses once, for this size. 0: unknown; if the choice
  /// depends on it, the ranks agree on the size now and then while the plan is used.
  std::size_t expected_requests = 0;
};
using scatter_options = gather_options;
using update_options = gather_options;

/// Buffers per destination of the asynchronous strategies, for requests without replies. Such a
/// sender runs ahead until its buffers are full. With 2 buffers, ranks on MPI spend a quarter of
/// their time waiting for a free one. Requests with replies need only 2.
inline constexpr int request_slots = 4;

/// What a plan does, and the origin of that choice.
struct gather_decision {
  enum class origin {
    asked,     ///< the caller named the strategy
    rule,      ///< without measurements: direct if all memory can be reached, else exstack
    profile,   ///< measurements of an earlier run
    measured,  ///< measurements of this run
  };
  origin from = origin::asked;
  detail::choices_by_size by_size = {};  ///< one choice per class of numbers of requests
  /// whether every rank can load from and store to the memory of every other rank
  bool all_reachable = false;

  [[nodiscard]] static detail::choices_by_size uniform(const gather_choice& choice) {
    detail::choices_by_size all;
    all.fill(choice);
    return all;
  }
  [[nodiscard]] bool depends_on_requests() const noexcept {
    return by_size != uniform(by_size.front());
  }
};
[[nodiscard]] std::string_view name_of(gather_decision::origin from) noexcept;

namespace detail {

/// `options` with the strategy, buffer_items and hops of `choice`.
[[nodiscard]] gather_options apply_choice(gather_options options, const gather_choice& choice);

}  // namespace detail
}  // namespace longshore
