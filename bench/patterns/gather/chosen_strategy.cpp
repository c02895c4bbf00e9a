// Adds the choice that strategy auto made, and where the choice came from, to the facts of a
// result.
#include "patterns/gather/chosen_strategy.hpp"

namespace longshore::bench {

json with_chosen_strategy(json facts, const gather_decision& decision,
                          const gather_choice& choice) {
  if (decision.from == gather_decision::origin::asked) return facts;
  json chosen{
      {"strategy", name_of(choice.strategy)},
      {"buffer_items", aggregates(choice.strategy) ? json(choice.buffer_items) : json(nullptr)},
      {"hops", choice.hops > 0 ? json(choice.hops) : json(nullptr)},
      {"from", name_of(decision.from)},
      {"by_requests", decision.depends_on_requests()}};
  facts["chosen"] = std::move(chosen);
  return facts;
}

}  // namespace longshore::bench
