// What is chosen when a plan for gather, scatter or an update is made; and how the choice is settled.
#pragma once

#include <longshore/gather/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace longshore {

struct gather_options {
  gather_strategy strategy = gather_strategy::automatic;
  std::size_t buffer_items = 1024;  ///< of an aggregating strategy: items per destination in one exchange
  int hops = 0;                     ///< of strategy conveyor: 1, 2 or 3; 0: 2 for more than 128 ranks on nodes of several, else 1
  /// Aggregating strategies: what a buffer holds twice for one element is combined before it leaves: asked for once, or added up,
  /// or (scatter) the later value alone sent. Costs some nanoseconds per index; pays where few elements are met often.
  bool combine = false;
};
using scatter_options = gather_options;
using update_options = gather_options;

namespace gathering {

struct settled_strategy {
  gather_strategy strategy;  ///< never automatic
  bool all_reachable;        ///< whether every rank can load from and store to the memory of every other
};

/// Collective. What `asked` becomes here. `why_not` is asked for the reason against a strategy of this operation, given whether all
/// is reachable. Throws, on all ranks, errc::unsupported for a strategy that is not there or not possible here, errc::usage for
/// buffers of no items.
[[nodiscard]] settled_strategy settle_strategy(team& team, const char* operation, const gather_options& asked, bool all_direct,
                                               std::optional<std::string> (*why_not)(gather_strategy, bool));

}  // namespace gathering
}  // namespace longshore
