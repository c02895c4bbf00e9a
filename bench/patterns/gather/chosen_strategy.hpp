// The choice of strategy auto, for the record of a result. The variant keeps the word auto.
#pragma once

#include "facts/json.hpp"

#include <longshore/gather/options.hpp>

namespace longshore::bench {

/// `facts` and, unless the user named the strategy, a member `chosen`: strategy, buffer_items and
/// hops of the last call, the origin of the choice, and whether it depends on the number of
/// requests.
[[nodiscard]] json with_chosen_strategy(json facts, const gather_decision& decision,
                                        const gather_choice& choice);

}  // namespace longshore::bench
