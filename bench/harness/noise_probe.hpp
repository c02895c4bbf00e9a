// The noise probe: a small fixed exchange of all ranks, right before each timed repetition. Noise
// of the machine (such as another program on the host) slows down the probe and the variant alike.
// Comparisons use the probe's time as a covariate to remove noise (docs/explanation/statistics.md).
// Without communication, the study tool measures noise by host/fixed_work_probe.py.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::bench {

/// The probe of one rank, with a channel to the next rank and a channel from the previous rank.
class noise_probe {
 public:
  /// Upper bound of the probe's symmetric memory on a rank.
  static constexpr std::size_t symmetric_bytes = std::size_t{1} << 16;

  /// Collective. Chooses the number of exchanges per probe so that a probe takes a small part of a
  /// repetition.
  explicit noise_probe(team& ranks);

  /// Collective. Seconds of one exchange on this rank. A probe takes about 0.2 ms. The result is
  /// meaningless with one rank, which exchanges with itself.
  [[nodiscard]] double measure();

 private:
  void exchange();
  [[nodiscard]] double seconds_of(int exchanges);

  team& team_;
  int next_rank_, previous_rank_;
  std::vector<std::byte> message_;
  std::unique_ptr<channel_set> channels_;
  int exchanges_ = 1;
};

}  // namespace longshore::bench
