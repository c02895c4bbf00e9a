#include "gather_chosen.hpp"

namespace longshore::bench {

json with_chosen(json facts, const gather_decision& decision, const gather_choice& choice) {
  if (decision.from == gather_decision::origin::asked) return facts;
  const bool aggregates = choice.strategy != gather_strategy::agp && choice.strategy != gather_strategy::direct;
  json chosen{{"strategy", name_of(choice.strategy)},
              {"buffer_items", aggregates ? json(choice.buffer_items) : json(nullptr)},
              {"hops", choice.hops > 0 ? json(choice.hops) : json(nullptr)},
              {"from", name_of(decision.from)},
              {"by_requests", decision.depends_on_requests()}};
  facts["chosen"] = std::move(chosen);
  return facts;
}

}  // namespace longshore::bench
