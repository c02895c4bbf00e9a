// longshore-bench: measures the patterns of the library, plans placement and aggregation, and
// writes the machine file of this machine for simulations.
#include "commands/commands.hpp"
#include "patterns/patterns.hpp"

#ifdef LONGSHORE_EMULATED_DEVICE
#include <longshore/device/emulated.hpp>
#include <longshore/exchange/device_installation.hpp>
#endif

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  using namespace longshore::bench;
#ifdef LONGSHORE_EMULATED_DEVICE
  static longshore::testing::emulated_devices devices;
  static const longshore::detail::device_installation installed(devices);
#endif
  const std::span<const char* const> words(argv + 1,
                                           static_cast<std::size_t>(std::max(argc, 1) - 1));
  if (!words.empty() && std::string_view(words.front()) == "placement")
    return run_placement_command(words.subspan(1));
  if (asks_for_gather_plan(words)) return run_gather_plan_command(words.subspan(1));
  const std::vector<pattern> patterns = all_patterns();
  if (!words.empty() && std::string_view(words.front()) == "calibrate")
    return run_calibrate_command(words.subspan(1), patterns);
  return run_pattern_command(argc, argv, patterns);
}
