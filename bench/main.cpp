// longshore-bench: measures the patterns of the library.
#include "benchmark.hpp"
#include "program.hpp"

#include <vector>

int main(int argc, char** argv) {
  using namespace longshore::bench;
  const std::vector<pattern> patterns{
#ifdef LONGSHORE_HAVE_STREAM
      stream_pattern(),
#endif
#ifdef LONGSHORE_HAVE_GATHER
      gather_pattern(),
#endif
#ifdef LONGSHORE_HAVE_HALO
      halo_pattern(),
#endif
#ifdef LONGSHORE_HAVE_SORT
      sort_pattern(),
#endif
#ifdef LONGSHORE_HAVE_CONTROL
      control_pattern(),
#endif
  };
  return run_program(argc, argv, patterns);
}
