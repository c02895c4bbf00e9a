// What strategy auto became, for the record of a result: the variant keeps the word auto.
#pragma once

#include "facts/json.hpp"

#include <longshore/gather/options.hpp>

namespace longshore::bench {

/// `facts` and, where the strategy was not named by the user, a member `chosen`: strategy, buffer_items and hops of the last call, from where they
/// are known, and whether they depend on the number of requests.
[[nodiscard]] json with_chosen_strategy(json facts, const gather_decision& decision, const gather_choice& choice);

}  // namespace longshore::bench
