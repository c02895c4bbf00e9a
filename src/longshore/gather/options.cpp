#include <longshore/core/error.hpp>
#include <longshore/gather/options.hpp>

namespace longshore::gathering {

settled_strategy settle_strategy(team& team, const char* operation, const gather_options& asked, bool all_direct,
                                 std::optional<std::string> (*why_not)(gather_strategy, bool)) {
  const bool reachable = team.allreduce_value<std::int64_t>(all_direct ? 1 : 0, reduction::min) == 1;
  if (const auto reason = why_not(asked.strategy, reachable)) fail(errc::unsupported, "{}: {}", operation, *reason);
  if (asked.buffer_items == 0)
    fail(errc::usage, "{}: buffers of 0 items: give at least 1, or leave the default of 1024", operation);
  if (asked.strategy != gather_strategy::automatic) return {asked.strategy, reachable};
  return {reachable ? gather_strategy::direct : gather_strategy::exstack, reachable};
}

}  // namespace longshore::gathering
