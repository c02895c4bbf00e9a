// The times of the phases of exchanges: how long a rank packs, sends, waits and unpacks. Plans take
// these times only while somebody asks for them; then each message reads the clock up to four times.
// docs/reference/halo.md says for each mode what belongs to which phase.
#pragma once

#include <longshore/transport/team.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace longshore::detail {

enum class exchange_phase : std::uint8_t { pack, send, wait, unpack, outside };

/// The clock of one rank for the exchanges of all its plans. Each moment of an exchange belongs to
/// one phase, so the phases add up to the time that the rank spends in calls of its plans.
class phase_clock {
 public:
  /// In the order of exchange_phase.
  static constexpr std::array<const char*, 4> names = {"pack", "send", "wait", "unpack"};

  /// Local. Returns the clock of this rank, which lives as long as the team.
  [[nodiscard]] static phase_clock& of(team& ranks);

  /// Sets all times to 0. If `on`, exchanges that start from now on are timed.
  void turn(bool on) noexcept {
    is_on_ = on;
    exchanges_ = 0;
    seconds_ = {};
  }
  /// The number of timed exchanges.
  [[nodiscard]] std::uint64_t exchanges() const noexcept { return exchanges_; }
  /// The seconds of a phase in all timed exchanges.
  [[nodiscard]] double seconds(std::size_t phase) const noexcept { return seconds_[phase]; }

  /// For plans. An exchange starts. Returns this clock, or null if the exchange is not timed.
  [[nodiscard]] phase_clock* start_exchange() noexcept {
    if (!is_on_) [[likely]]
      return nullptr;
    ++exchanges_;
    return this;
  }
  /// The time from now on belongs to `phase`. Returns the phase before.
  [[gnu::cold]] exchange_phase enter(exchange_phase phase) noexcept;

 private:
  team* team_ = nullptr;
  bool is_on_ = false;
  exchange_phase phase_ = exchange_phase::outside;
  double since_ = 0;
  std::uint64_t exchanges_ = 0;
  std::array<double, names.size() + 1> seconds_{};  // the last one is outside of exchanges
};

/// During its lifetime, time belongs to a phase. Without a clock, it costs a comparison.
class timed_phase {
 public:
  timed_phase(phase_clock* clock, exchange_phase phase) : clock_(clock) {
    if (clock_ != nullptr) [[unlikely]]
      before_ = clock_->enter(phase);
  }
  ~timed_phase() {
    if (clock_ != nullptr) [[unlikely]]
      clock_->enter(before_);
  }
  timed_phase(const timed_phase&) = delete;
  timed_phase& operator=(const timed_phase&) = delete;

 private:
  phase_clock* clock_;
  exchange_phase before_ = exchange_phase::outside;
};

}  // namespace longshore::detail
