#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <sched.h>

#include <ctime>

namespace longshore {
namespace {

constexpr unsigned yields_per_look_at_the_clock = 16;
constexpr double seconds_until_sleep = 0.02;
constexpr long sleep_nanoseconds = 50'000;

}  // namespace

void waiter::begin() noexcept { began_ = monotonic_seconds(); }

void waiter::end() noexcept { team_.waited_seconds_ += monotonic_seconds() - began_; }

void waiter::give_way() {
  team_.attend();
  if (yields_++ % yields_per_look_at_the_clock == 0) {
    const double now = monotonic_seconds();
    if (began_ < 0) began_ = now;
    const double timeout = team_.waiting().timeout_seconds;
    if (timeout > 0 && now - began_ > timeout) give_up(now - began_);
    if (now - began_ > seconds_until_sleep) {
      const timespec nap{0, sleep_nanoseconds};
      nanosleep(&nap, nullptr);
      return;
    }
  }
  sched_yield();
}

void waiter::give_up(double waited_seconds) const {
  const std::string whom = peer_ < 0 ? "the other ranks" : fmt::format("rank {}", peer_);
  fail(errc::timeout,
       "rank {} of {} waited {:.1f} s for {} from {}: a rank is stuck, far slower, or gone (LONGSHORE_TIMEOUT={} is the deadline "
       "in seconds)",
       team_.rank(), team_.size(), waited_seconds, operation_, whom, team_.waiting().timeout_seconds);
}

}  // namespace longshore
