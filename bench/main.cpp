// longshore-bench: measures the patterns of the library, and plans placements of ranks.
#include "benchmark.hpp"
#include "placement.hpp"
#include "program.hpp"

#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  using namespace longshore::bench;
  if (argc > 1 && std::string_view(argv[1]) == "placement") return run_placement({argv + 2, static_cast<std::size_t>(argc - 2)});
  const std::vector<pattern> patterns{stream_pattern(), gather_pattern(), halo_pattern(), sort_pattern(), control_pattern()};
  return run_program(argc, argv, patterns);
}
