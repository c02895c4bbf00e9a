#include <longshore/core/error.hpp>
#include <longshore/transport/wait_hook.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>

#include <sched.h>

#include <ctime>

namespace longshore {
namespace {

constexpr unsigned yields_per_nap = 16;
constexpr double seconds_until_sleep = 0.02;
constexpr long sleep_nanoseconds = 50'000;

}  // namespace

void waiter::look_at_clock() noexcept {
  last_ = monotonic_seconds();
  if (began_ < 0) began_ = last_;
}

void waiter::tell() noexcept { team_.waited_seconds_ += last_ - began_; }

void waiter::give_way() {
  team_.attend();
  look_at_clock();
  const double timeout = team_.waiting().timeout_seconds, waited = last_ - began_;
  if (timeout > 0 && waited > timeout) give_up(waited);
  const bool now_and_then = yields_++ % yields_per_nap == 0;
  if (now_and_then)
    if (const auto hook = team_.kept<wait_hook>().call) hook();
  if (now_and_then && waited > seconds_until_sleep) {
    const timespec nap{0, sleep_nanoseconds};
    nanosleep(&nap, nullptr);
  } else {
    sched_yield();
  }
  look_at_clock();
}

void waiter::give_up(double waited_seconds) const {
  const std::string whom = peer_ < 0 ? "the other ranks" : fmt::format("rank {}", peer_);
  fail(errc::timeout,
       "rank {} of {} waited {:.1f} s for {} from {}: a rank is stuck, far slower, or gone "
       "(LONGSHORE_TIMEOUT={} is the deadline "
       "in seconds)",
       team_.rank(), team_.size(), waited_seconds, operation_, whom,
       team_.waiting().timeout_seconds);
}

}  // namespace longshore
