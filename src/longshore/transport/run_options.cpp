// Reads options that a program has left open from the environment.
#include <longshore/transport/run_options.hpp>

#include <longshore/core/environment.hpp>

namespace longshore {
namespace {

constexpr long max_ranks = 1 << 20;
constexpr double max_seconds = 1e6, default_timeout_seconds = 300;

}  // namespace

run_options with_environment(run_options options) {
  if (!options.ranks_per_node)
    options.ranks_per_node =
        static_cast<int>(environment_integer("LONGSHORE_RANKS_PER_NODE", 0, max_ranks).value_or(0));
  if (!options.timeout_seconds)
    options.timeout_seconds =
        environment_number("LONGSHORE_TIMEOUT", 0, max_seconds).value_or(default_timeout_seconds);
  if (!options.check_calls)
    options.check_calls = environment_integer("LONGSHORE_CHECK", 0, 1).value_or(0) != 0;
  return options;
}

}  // namespace longshore
