#include <longshore/core/error.hpp>
#include <longshore/transport/team_attribute.hpp>
#include <longshore/transport/wait_callback.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>

#include <sched.h>

#include <ctime>

namespace longshore {
namespace {

constexpr unsigned yields_per_sleep = 16;
constexpr double seconds_until_sleep = 0.02;
constexpr long sleep_nanoseconds = 50'000;

}  // namespace

void waiter::look_at_clock() noexcept {
  last_ = monotonic_seconds();
  if (began_ < 0) began_ = last_;
}

void waiter::add_to_team() noexcept { team_.waited_seconds_ += last_ - began_; }

void waiter::yield() {
  team_.progress();
  look_at_clock();
  const double timeout = team_.waiting().timeout_seconds, waited = last_ - began_;
  if (timeout > 0 && waited > timeout) fail_timeout(waited);
  const bool now_and_then = yields_++ % yields_per_sleep == 0;
  if (now_and_then)
    if (const auto callback = detail::team_attribute<wait_callback>(team_).call) callback();
  if (now_and_then && waited > seconds_until_sleep) {
    const timespec nap{0, sleep_nanoseconds};
    nanosleep(&nap, nullptr);
  } else {
    sched_yield();
  }
  look_at_clock();
}

void waiter::fail_timeout(double waited_seconds) const {
  const std::string whom = peer_ < 0 ? "the other ranks" : fmt::format("rank {}", peer_);
  fail(errc::timeout,
       "rank {} of {} waited {:.1f} s for {} from {}: a rank is stuck, far slower, or gone "
       "(LONGSHORE_TIMEOUT={} is the deadline in seconds)",
       team_.rank(), team_.size(), waited_seconds, operation_, whom,
       team_.waiting().timeout_seconds);
}

}  // namespace longshore
