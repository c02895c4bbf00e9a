// Reads options that a program has left open from the environment.
#include <longshore/transport/run_options.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>

namespace longshore {
namespace {

constexpr long max_ranks = 1 << 20;
constexpr double max_seconds = 1e6, default_timeout_seconds = 300;

}  // namespace

void detail::check_ranks_per_node(int smallest, int largest) {
  if (smallest != largest)
    fail(errc::usage,
         "ranks_per_node (LONGSHORE_RANKS_PER_NODE) is {} on one rank and {} on another: give all "
         "ranks the same number",
         smallest, largest);
}

run_options with_environment(run_options options) {
  if (const int given = options.ranks_per_node.value_or(0); given < 0 || given > max_ranks)
    fail(errc::usage, "ranks_per_node is {}: it must be from 0 (real nodes) to {}", given,
         max_ranks);
  const double seconds = options.timeout_seconds.value_or(0);
  if (!(seconds >= 0 && seconds <= max_seconds))
    fail(errc::usage, "timeout_seconds is {}: it must be from 0 (no deadline) to {}", seconds,
         max_seconds);
  if (!options.ranks_per_node)
    options.ranks_per_node =
        static_cast<int>(environment_integer("LONGSHORE_RANKS_PER_NODE", 0, max_ranks).value_or(0));
  if (!options.timeout_seconds)
    options.timeout_seconds =
        environment_number("LONGSHORE_TIMEOUT", 0, max_seconds).value_or(default_timeout_seconds);
  if (options.machine.empty()) options.machine = environment_text("LONGSHORE_MACHINE").value_or("");
  if (!options.check_calls)
    options.check_calls = environment_integer("LONGSHORE_CHECK", 0, 1).value_or(0) != 0;
  return options;
}

}  // namespace longshore
