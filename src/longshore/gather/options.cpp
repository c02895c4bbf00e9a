// Options with the choice of strategy auto filled in.
#include <longshore/gather/options.hpp>

namespace longshore {

gather_options detail::apply_choice(gather_options options, const gather_choice& choice) {
  options.strategy = choice.strategy;
  options.buffer_items = choice.buffer_items;
  options.hops = choice.hops;
  return options;
}

}  // namespace longshore
