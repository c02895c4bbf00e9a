// How the variants of a launch are measured; the same for all patterns.
#pragma once

#include <cstdint>

namespace longshore::bench {

struct sweep_options {
  int repetitions = 10, warmup = 1;
  /// Operations per repetition; 0: enough of them for the resolution of the clock
  long iterations = 0;
  std::uint64_t seed = 122222;
  bool verify = true, shuffle = true, noise_probe = true;
};

}  // namespace longshore::bench
