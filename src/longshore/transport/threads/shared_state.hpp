// The state that the ranks of a run on threads share: a barrier, pointers that ranks show to each
// other, and the first failure.
#pragma once

#include <longshore/transport/detail/node_barrier.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace longshore::threads {

class shared_state {
 public:
  explicit shared_state(int ranks)
      : posted(static_cast<std::size_t>(ranks)), calls(posted.size()), ranks_(ranks) {}

  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// Stores the error of a rank if it is the first one, and returns whether it is. Later errors are
  /// consequences of the first.
  bool fail(int rank, std::exception_ptr why);
  /// Throws errc::peer_failed if the first failed rank is not `rank`.
  void check(int rank) const;
  /// Rethrows the first failure, if there is one.
  void rethrow() const;

  /// Only rank r writes posted[r]. The others read it between two barriers.
  std::vector<const void*> posted;
  std::vector<detail::call_slot> calls;
  detail::node_barrier_state barrier{};

 private:
  int ranks_;
  std::atomic<int> failed_rank_{-1};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace longshore::threads
