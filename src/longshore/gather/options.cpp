// Names of the origins of a decision, and options with the choice of strategy auto filled in.
#include <longshore/gather/options.hpp>

namespace longshore {

std::string_view name_of(gather_decision::origin from) noexcept {
  switch (from) {
    case gather_decision::origin::asked: return "asked";
    case gather_decision::origin::rule: return "rule";
    case gather_decision::origin::profile: return "profile";
    case gather_decision::origin::measured: return "measured";
  }
  return "?";
}

gather_options detail::apply_choice(gather_options options, const gather_choice& choice) {
  options.strategy = choice.strategy;
  options.buffer_items = choice.buffer_items;
  options.hops = choice.hops;
  return options;
}

}  // namespace longshore
