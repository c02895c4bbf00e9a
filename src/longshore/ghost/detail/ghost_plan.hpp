// The plan of a ghost exchange: the programs of a strategy, for the links of a graph.
#pragma once

#include <longshore/exchange/detail/copy_links.hpp>
#include <longshore/exchange/detail/exchange_plan.hpp>
#include <longshore/ghost/detail/ghost_links.hpp>
#include <longshore/ghost/ghost_exchange.hpp>

#include <memory>
#include <span>

namespace longshore::detail {

/// The memories of a plan that hold an element of every field. Further memories are buffers, in
/// which elements wait between rounds.
inline constexpr int owned_memory = 0, ghost_memory_number = 1, first_buffer = 2;

/// Local. Returns the memories of the fields: those of elements and of ghosts.
[[nodiscard]] rank_memories memories_of(std::span<const ghost_memory> fields);

/// Local. Checks the arguments of a plan on this rank.
[[nodiscard]] plan_arguments check_ghost_plan(const ghost_graph& graph,
                                              const ghost_options& options,
                                              std::span<const ghost_memory> fields);

/// Collective. Agrees on the arguments of all ranks. The programs of the plan are those of
/// copy_links, numbered like ghost_operation. REQUIRES: a strategy that is not `automatic`.
[[nodiscard]] std::unique_ptr<exchange_plan> make_ghost_plan(const ghost_links& links,
                                                             ghost_strategy strategy,
                                                             const ghost_options& options,
                                                             std::span<const ghost_memory> fields,
                                                             plan_arguments arguments);

/// Collective. Makes a plan of each candidate strategy on scratch memory, times updates by turns,
/// and returns the fastest strategy. The first plan agrees on the arguments, unless there is only
/// one candidate.
[[nodiscard]] ghost_strategy choose_ghost_strategy(const ghost_links& links,
                                                   std::span<const ghost_memory> fields,
                                                   plan_arguments& arguments);

}  // namespace longshore::detail
