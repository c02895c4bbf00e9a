// Reads the team's clock at each change of phase.
#include <longshore/exchange/phase_clock.hpp>

#include <longshore/transport/team.hpp>

#include <utility>

namespace longshore::detail {

phase_clock& phase_clock::of(team& ranks) {
  auto& clock = ranks.attribute<phase_clock>();
  clock.team_ = &ranks;
  return clock;
}

exchange_phase phase_clock::enter(exchange_phase phase) noexcept {
  const double now = team_->now();
  seconds_[static_cast<std::size_t>(phase_)] += now - since_;
  since_ = now;
  return std::exchange(phase_, phase);
}

}  // namespace longshore::detail
