// Modes rma-fence, rma-pscw and rma-flush: one-sided. Each rank puts its messages into its
// neighbours' memory; the three differ in how ranks say that memory may be written, and that it has
// been.
//
// Memory is what is received, when that lies together (contiguous faces), else a window of buffers
// that are unpacked afterwards.
//
// Cost: one MPI_Put per leg (6 or 26). rma-fence: two collective fences over all ranks. rma-pscw: a
// post and a completion per neighbour. rma-flush: two empty messages and a flush per neighbour.
// start() may block until neighbours have started.
#pragma once

#include <longshore/halo/detail/mpi/legs.hpp>

namespace longshore::mpi {

/// Base: the window, and the puts. Not every library has windows over memory of the caller for any
/// set of ranks (Open MPI 4.1 has none for one rank, and fails where ranks allocate different
/// amounts): then messages arrive in memory of the library, equal on all ranks.
class rma : public legs {
 public:
  rma(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  ~rma() override;

 protected:
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  /// Packs and puts the messages to one rank, or to all.
  void put_to(int rank);
  void put_all();
  bool in_flight_ = false;

 private:
  [[nodiscard]] std::byte* make_window(longshore::team& ranks);
  void put(std::size_t leg);
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<MPI_Aint> there_;  // by leg: where an outgoing message goes in its receiver's window
};

/// MPI_Win_fence, puts, MPI_Win_fence. test() blocks as wait() does.
class rma_fence final : public rma {
 public:
  using rma::rma;
  void start() override;
  [[nodiscard]] bool test() override {
    wait();
    return true;
  }
  void wait() override;
};

/// MPI_Win_post and MPI_Win_start, puts, MPI_Win_complete and MPI_Win_wait.
class rma_pscw final : public rma {
 public:
  rma_pscw(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  ~rma_pscw() override;
  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;

 private:
  MPI_Group sources_ = MPI_GROUP_NULL, destinations_ = MPI_GROUP_NULL;
};

/// A lock on all for good; each exchange an empty message that memory is free, puts, MPI_Win_flush,
/// and an empty message that they are done.
class rma_flush final : public rma {
 public:
  rma_flush(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers);
  ~rma_flush() override;
  void start() override;
  [[nodiscard]] bool test() override;
  void wait() override;

 private:
  void finish();
  std::vector<int> sources_, destinations_;
  int free_tag_, done_tag_;
  // the messages that this rank awaits or sends, but for those that memory is free
  std::vector<MPI_Request> requests_;
};

}  // namespace longshore::mpi
