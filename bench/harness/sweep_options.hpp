// How a launch measures its variants. The same for all patterns.
#pragma once

#include <array>
#include <cstdint>

namespace longshore::bench {

/// Which results are verified, outside of the timed part.
enum class verification {
  all,   ///< that of the first run, and that of each timed repetition
  ends,  ///< that of the first run, and that of the last repetition
  no
};

/// As users write them, in the order of the enumerators.
inline constexpr std::array<const char*, 3> verification_names = {"all", "ends", "no"};

struct sweep_options {
  int repetitions = 10, warmup = 1;
  /// Operations per repetition. If 0, each variant gets enough to last about 5 ms.
  long iterations = 0;
  std::uint64_t seed = 122222;
  verification verify = verification::all;
  bool shuffle = true, noise_probe = true;
};

}  // namespace longshore::bench
