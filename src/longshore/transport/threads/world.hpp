// What the ranks of a threads run share: a barrier, a board for pointers, and the first failure.
#pragma once

#include <longshore/transport/detail/node_barrier.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace longshore::threads {

class world {
 public:
  explicit world(int ranks)
      : board(static_cast<std::size_t>(ranks)), calls(board.size()), ranks_(ranks) {}

  [[nodiscard]] int ranks() const noexcept { return ranks_; }

  /// Records why a rank failed. The first one is kept, and true returned: what others say after it
  /// is its consequence.
  bool fail(int rank, std::exception_ptr why);
  /// Throws errc::peer_failed when a rank other than `rank` has failed.
  void check(int rank) const;
  /// Rethrows the first failure, if there was one.
  void rethrow() const;

  /// board[r] is written by rank r alone, and read by the others between two barriers.
  std::vector<const void*> board;
  std::vector<detail::call_slot> calls;
  detail::node_barrier_state barrier{};

 private:
  int ranks_;
  std::atomic<int> failed_rank_{-1};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

}  // namespace longshore::threads
