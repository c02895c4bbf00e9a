// The backends of modes rma-fence, rma-pscw and rma-flush: one-sided communication. Each rank puts
// its messages into its neighbours' memory. The three modes differ in how ranks signal that memory
// may be written, and that it has been written.
//
// If incoming messages are contiguous and adjacent, they arrive in their cells. Otherwise they
// arrive in a window of buffers, and are unpacked from there.
//
// Cost: one MPI_Put per message (6 or 26). rma-fence: two collective fences over all ranks.
// rma-pscw: a post and a completion per neighbour. rma-flush: two empty messages and a flush per
// neighbour. start() may block until neighbours have started.
#pragma once

#include <longshore/halo/detail/mpi/mode_backend.hpp>

namespace longshore::mpi {

/// Base: the window and the puts. Some libraries cannot make windows over the caller's memory for
/// every set of ranks (Open MPI 4.1 cannot for one rank, or if ranks allocate different amounts).
/// Messages then arrive in memory of the library, of the same size on all ranks.
class rma_backend : public mode_backend {
 public:
  rma_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
              tasks* workers);
  ~rma_backend() override;

 protected:
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  /// Packs and puts the messages to one rank, or to all ranks.
  void put_to(int rank);
  void put_all();
  bool in_flight_ = false;

 private:
  [[nodiscard]] std::byte* make_window(longshore::team& ranks);
  void put(std::size_t pair);
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<MPI_Aint> target_offsets_;  // by pair: in the receiver's window
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
  rma_pscw_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
                   tasks* workers);
  ~rma_pscw_backend() override;
  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;

 private:
  MPI_Group sources_ = MPI_GROUP_NULL, destinations_ = MPI_GROUP_NULL;
};

/// MPI_Win_lock_all once. Each exchange: an empty message "memory is free", puts, MPI_Win_flush,
/// and an empty message "puts are done".
class rma_flush_backend final : public rma_backend {
 public:
  rma_flush_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
                    tasks* workers);
  ~rma_flush_backend() override;
  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;

 private:
  void finish();
  std::vector<int> sources_, destinations_;
  int free_tag_, done_tag_;
  // "puts are done" received, and both empty messages sent
  std::vector<MPI_Request> requests_;
};

}  // namespace longshore::mpi
