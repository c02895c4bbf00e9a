// The state that the ranks of a run on threads share: what they post for each other, the barrier,
// and the first failure. run() makes one object, which outlives all ranks.
#pragma once

#include <longshore/transport/detail/node_barrier.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace longshore::threads {

class shared_state {
 public:
  explicit shared_state(int ranks) : posted(ranks), call_slots(posted.size()), ranks_(ranks) {}

  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// Stores the error of a rank if no error is stored yet, and returns whether it did. Later errors
  /// are consequences of the first.
  bool fail(int rank, std::exception_ptr why);
  /// Throws errc::peer_failed if a rank has failed and the first failed rank is not `rank`. Waiting
  /// ranks call this often, so it takes no lock.
  void check(int rank) const;
  /// Rethrows the first failure, if there is one. REQUIRES: all ranks have ended.
  void rethrow() const;

  /// posted[r] points to data that rank r shows to the other ranks. Other ranks read posted[r]
  /// between two barriers.
  std::vector<const void*> posted;
  /// call_slots[r] is where rank r posts its collective calls, which the barrier compares.
  std::vector<detail::call_slot> call_slots;
  detail::node_barrier_state barrier{};

 private:
  int ranks_;
  std::atomic<int> failed_rank_{-1};  // the rank that failed first; -1 while no rank has failed
  std::mutex mutex_;                  // protects failure_ while ranks run
  std::exception_ptr failure_;
};

}  // namespace longshore::threads
