// The slow part of a wait, after spinning. The waiter yields the core or sleeps, lets the library
// make progress, measures the waited time, and throws at the deadline.
#include <longshore/core/error.hpp>
#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>

#include <sched.h>

#include <ctime>

namespace longshore {
namespace {

// A spin of this length is longer than a message takes on a host or through a fast network. Then
// the core is yielded, because another rank may need it to send the awaited message, or the kernel
// to receive it. The limit is a time, because a test takes 20 to 100 ns.
constexpr double seconds_until_yield = 20e-6;
// One of this many yields calls the callback, and, after seconds_until_sleep, sleeps.
constexpr unsigned yields_per_sleep = 16;
constexpr double seconds_until_sleep = 0.02;
constexpr long sleep_nanoseconds = 50'000;

}  // namespace

void waiter::read_clock() noexcept {
  last_seconds_ = team_.now();
  if (began_seconds_ < 0) began_seconds_ = last_seconds_;
}

void waiter::time_spin() noexcept {
  read_clock();
  is_spinning_ = last_seconds_ - began_seconds_ < seconds_until_yield;
}

void waiter::add_to_team() noexcept {
  team_.waited_seconds_ += last_seconds_ - began_seconds_;
  if (team_.costs() != nullptr) team_.costs()->wait_ended();
}

// The first pause of a wait does not block, because some loops do pending work before they are
// idle, such as sending partial buffers.
void waiter::pause_by_event() {
  constexpr unsigned pauses_before_block = 1;
  team_.progress();
  read_clock();
  if (yields_++ >= pauses_before_block) team_.costs()->block(operation_, peer_);
  read_clock();
}

void waiter::yield() {
  if (team_.costs() != nullptr) {
    pause_by_event();
    return;
  }
  team_.progress();
  read_clock();
  const double timeout = team_.waiting().timeout_seconds, waited = last_seconds_ - began_seconds_;
  if (timeout > 0 && waited > timeout) fail_timeout(waited);
  const bool is_sleep_turn = yields_++ % yields_per_sleep == 0;
  if (is_sleep_turn)
    if (const auto callback = team_.attribute<wait_callback>().call) callback();
  if (is_sleep_turn && waited > seconds_until_sleep) {
    const timespec nap{0, sleep_nanoseconds};
    nanosleep(&nap, nullptr);
  } else {
    sched_yield();
  }
  read_clock();
}

void waiter::fail_timeout(double waited_seconds) const {
  const std::string awaited = peer_ < 0 ? "the other ranks" : fmt::format("rank {}", peer_);
  fail(errc::timeout,
       "rank {} of {} waited {:.1f} s for {} from {}: a rank is stuck, far slower, or gone "
       "(the deadline is {} s: timeout_seconds, LONGSHORE_TIMEOUT)",
       team_.rank(), team_.size(), waited_seconds, operation_, awaited,
       team_.waiting().timeout_seconds);
}

}  // namespace longshore
