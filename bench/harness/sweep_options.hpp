// How a launch measures its variants. The same for all patterns.
#pragma once

#include <cstdint>

namespace longshore::bench {

struct sweep_options {
  int repetitions = 10, warmup = 1;
  /// Operations per repetition. If 0, each variant gets enough to last about 5 ms.
  long iterations = 0;
  std::uint64_t seed = 122222;
  bool verify = true, shuffle = true, noise_probe = true;
};

}  // namespace longshore::bench
