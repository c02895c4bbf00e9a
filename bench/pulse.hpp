// The pulse of the machine: a small fixed exchange of all ranks, right before each timed repetition. It is no figure. What makes
// it slower for a moment (cores that share a cache less than before, a neighbour on the host) makes variants slower too, and a
// comparison can take that part of the noise out: a covariate, measured beside each figure (docs/explanation/statistics.md).
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::bench {

class pulse {
 public:
  /// Symmetric memory that a rank needs for it, at most.
  static constexpr std::size_t symmetric_bytes = std::size_t{1} << 16;

  /// Collective. Finds out how many exchanges one beat can have without taking more than a small part of a repetition.
  explicit pulse(team& ranks);

  /// Collective. Seconds of one exchange on this rank, some 0.2 ms in all; meaningless with one rank, which exchanges with itself.
  [[nodiscard]] double beat();

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
