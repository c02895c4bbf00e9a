// The backends of modes rma-fence, rma-pscw and rma-flush: one-sided communication. Each rank puts
// its messages into its neighbours' memory. The modes signal in different ways that memory may be
// written, and that memory has been written.
//
// If incoming messages are contiguous and adjacent, they arrive in their cells. Otherwise they
// arrive in a window of buffers, and are unpacked from there.
//
// Cost: one MPI_Put per message (6 or 26). In addition, rma-fence has two collective fences over
// all ranks, rma-pscw a post and a completion per neighbour, and rma-flush two empty messages and a
// flush per neighbour. start() may block until neighbours have started.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

/// Base of these backends: the window and the puts. Some MPI libraries cannot make windows over the
/// caller's memory in all cases: Open MPI 4.1 fails for one rank, and if ranks give different
/// amounts of memory. Messages then arrive in memory that the MPI library allocates, with the same
/// size on all ranks.
class rma_backend : public mode_backend {
 public:
  explicit rma_backend(const round_setup& setup);
  ~rma_backend() override;

 protected:
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  /// Packs the messages to one rank, and puts them into its window.
  void put_to(int rank);
  void put_all();
  bool in_flight_ = false;

 private:
  [[nodiscard]] std::byte* make_window(longshore::team& ranks);
  void put(std::size_t pair);
  MPI_Win window_ = MPI_WIN_NULL;
  // The offset of each outgoing message in its receiver's window, indexed by message pair.
  std::vector<MPI_Aint> target_offsets_;
};

/// MPI_Win_fence, puts, MPI_Win_fence. test() blocks like wait().
class rma_fence_backend final : public rma_backend {
 public:
  using rma_backend::rma_backend;
  void start() override;
  [[nodiscard]] bool test() override {
    wait();
    return true;
  }
  void wait() override;
};

/// MPI_Win_post and MPI_Win_start, puts, MPI_Win_complete and MPI_Win_wait.
class rma_pscw_backend final : public rma_backend {
 public:
  explicit rma_pscw_backend(const round_setup& setup);
  ~rma_pscw_backend() override;
  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;

 private:
  MPI_Group sources_ = MPI_GROUP_NULL, destinations_ = MPI_GROUP_NULL;
};

/// MPI_Win_lock_all once. Then each exchange has an empty message "memory is writable", puts,
/// MPI_Win_flush, and an empty message "memory is written" per neighbour.
class rma_flush_backend final : public rma_backend {
 public:
  explicit rma_flush_backend(const round_setup& setup);
  ~rma_flush_backend() override;
  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;

 private:
  void finish();
  std::vector<int> sources_, destinations_;
  int writable_tag_, written_tag_;
  std::vector<MPI_Request> requests_;  // of the empty messages
};

}  // namespace longshore::mpi
