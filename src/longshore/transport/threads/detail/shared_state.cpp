// Keeps the first failure of a run on threads. The other ranks find it in their next wait, which
// calls check(), and then end too.
#include <longshore/core/error.hpp>
#include <longshore/transport/threads/detail/shared_state.hpp>

namespace longshore::threads {

bool shared_state::fail(int rank, std::exception_ptr why) {
  const std::scoped_lock lock(mutex_);
  if (failure_) return false;
  failure_ = std::move(why);
  failed_rank_.store(rank, std::memory_order_release);
  return true;
}

void shared_state::check(int rank) const {
  const int failed = failed_rank_.load(std::memory_order_acquire);
  if (failed >= 0 && failed != rank)
    longshore::fail(errc::peer_failed, "rank {} failed first", failed);
}

void shared_state::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace longshore::threads
