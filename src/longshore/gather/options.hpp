// What is chosen when a plan for gather, scatter or an update is made, and what became of it.
#pragma once

#include <longshore/gather/detail/choice.hpp>
#include <longshore/gather/strategy.hpp>

#include <cstddef>
#include <string_view>

namespace longshore {

struct gather_options {
  gather_strategy strategy =
      /// automatic: strategy, buffer_items and hops by what was measured here
      gather_strategy::automatic;
  /// of an aggregating strategy: items per destination in one exchange
  std::size_t buffer_items = 1024;
  /// of strategy conveyor: 1, 2 or 3; 0: 2 for more than 128 ranks on nodes of several, else 1
  int hops = 0;
  /// Aggregating strategies: what a buffer holds twice for one element is combined before it
  /// leaves: asked for once, or added up, or (scatter) the later value alone sent. Costs some
  /// nanoseconds per index; pays where few elements are met often.
  bool combine = false;
  /// Strategy auto: the most requests of a rank in one call, where that is known (the largest of
  /// what the ranks say counts): the choice is then made for this size, once. 0: not known; where
  /// it matters, the ranks agree on it now and then while the plan is used.
  std::size_t expected_requests = 0;
};
using scatter_options = gather_options;
using update_options = gather_options;

/// Buffers per destination for requests without a reply, of the asynchronous strategies. Nothing
/// else paces their senders: with 2, ranks on MPI wait a quarter of the time for a message to be
/// taken. For requests with a reply 2 are enough.
inline constexpr int request_slots = 4;

/// What a plan does, and why.
struct gather_decision {
  enum class origin {
    asked,     ///< the caller named the strategy
    rule,      ///< nothing was measured: direct where all memory can be reached, else exstack
    profile,   ///< by measurements of an earlier run
    measured,  ///< by measurements of this run
  };
  origin from = origin::asked;
  detail::choices_by_size by_size = {};  ///< by class of requests
  /// whether every rank can load from and store to the memory of every other
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

/// The options of a plan that does as chosen.
[[nodiscard]] gather_options with_choice(gather_options options, const gather_choice& choice);

}  // namespace detail
}  // namespace longshore
