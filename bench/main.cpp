// longshore-bench: measures the patterns of the library.
#include "benchmark.hpp"
#include "program.hpp"

#include <vector>

int main(int argc, char** argv) {
  using namespace longshore::bench;
  const std::vector<pattern> patterns{stream_pattern(), gather_pattern(), halo_pattern(), sort_pattern(), control_pattern()};
  return run_program(argc, argv, patterns);
}
