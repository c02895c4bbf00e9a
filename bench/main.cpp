// longshore-bench: measures the patterns of the library, and plans placement and aggregation.
#include "commands/plan_gather.hpp"
#include "commands/plan_placement.hpp"
#include "commands/run_program.hpp"
#include "patterns/patterns.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  using namespace longshore::bench;
  const std::span<const char* const> words(argv + 1,
                                           static_cast<std::size_t>(std::max(argc, 1) - 1));
  if (!words.empty() && std::string_view(words.front()) == "placement")
    return plan_placement(words.subspan(1));
  if (asks_to_plan_gather(words)) return plan_gather(words.subspan(1));
  const std::vector<pattern> patterns{stream_pattern(), gather_pattern(), halo_pattern(),
                                      sort_pattern(), control_pattern()};
  return run_program(argc, argv, patterns);
}
