// The choice of strategy auto in the records of pattern gather, where factor `strategy` stays auto.
#pragma once

#include "facts/json.hpp"

#include <longshore/gather/options.hpp>

namespace longshore::bench {

/// Returns `facts`. Unless the user named the strategy, a member `chosen` is added: strategy,
/// buffer_items and hops of the last call, the origin of the choice, and whether the choice depends
/// on the number of requests.
[[nodiscard]] json with_chosen_strategy(json facts, const gather_decision& decision,
                                        const gather_choice& choice);

}  // namespace longshore::bench
