// The noise probe: a small fixed exchange of all ranks, right before each timed repetition. Its
// time is not reported as a result. Noise of the machine (cores that share a cache less than
// before, a neighbour on the host) slows down the probe and the variant alike. A comparison uses
// the probe as a covariate, and so removes that part of the noise (docs/explanation/statistics.md).
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::bench {

class noise_probe {
 public:
  /// Upper bound of the symmetric memory that the probe needs on a rank.
  static constexpr std::size_t symmetric_bytes = std::size_t{1} << 16;

  /// Collective. Chooses the number of exchanges per probe so that it takes a small part of a
  /// repetition.
  explicit noise_probe(team& ranks);

  /// Collective. Seconds of one exchange on this rank; takes about 0.2 ms. Meaningless with one
  /// rank, which exchanges with itself.
  [[nodiscard]] double measure();

 private:
  void exchange();
  [[nodiscard]] double seconds_of(int exchanges);

  team& team_;
  int next_, before_;
  std::vector<std::byte> message_;
  std::unique_ptr<channel_set> channels_;
  int exchanges_ = 1;
};

}  // namespace longshore::bench
