// The modes rma-fence, rma-pscw and rma-flush: one-sided communication. Each rank puts its messages
// into its neighbours' memory. The modes signal in different ways that memory may be written, and
// that memory has been written.
//
// If incoming messages are contiguous and adjacent, they arrive in their cells. Otherwise they
// arrive in a window of buffers, and are unpacked from there.
//
// Cost: one MPI_Put per message (6 or 26). In addition, rma-fence has two collective fences over
// all ranks, rma-pscw a post and a completion per neighbour, and rma-flush two empty messages and a
// flush per neighbour. start() may block until neighbours have started.
#include <longshore/halo/detail/mpi/mode_backend.hpp>

#include <longshore/core/bytes.hpp>

namespace longshore::mpi {
namespace {

// Base of these backends: the window and the puts. Some MPI libraries cannot make windows over the
// caller's memory in all cases: Open MPI 4.1 fails for one rank, and if ranks give different
// amounts of memory. Messages then arrive in memory that the MPI library allocates, with the same
// size on all ranks.
class rma_backend : public mode_backend {
 public:
  explicit rma_backend(const round_setup& setup);
  ~rma_backend() override {
    if (has_ended()) return;
    const auto deadline = limit_time();
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }

 protected:
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  // Packs the message of a pair, and puts it into the window of its receiver.
  void put(std::size_t pair) {
    pack(pair);
    const auto& out = outgoing(pair);
    check(MPI_Put(out.data, out.bytes, MPI_BYTE, out.rank, target_offsets_[pair], out.bytes,
                  MPI_BYTE, window_),
          "MPI_Put");
  }
  void put_all() {
    for (std::size_t i = 0; i < count(); ++i)
      if (outgoing(i).rank != MPI_PROC_NULL) put(i);
  }

 private:
  [[nodiscard]] std::byte* make_window(longshore::team& ranks);
  MPI_Win window_ = MPI_WIN_NULL;
  // The offset of each outgoing message in its receiver's window, indexed by message pair.
  std::vector<MPI_Aint> target_offsets_;
};

rma_backend::rma_backend(const round_setup& setup)
    : mode_backend(setup, buffering::strided_outgoing), target_offsets_(count(), 0) {
  std::byte* const base = make_window(setup.grid.ranks());
  const auto deadline = limit_time();
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  // Each receiver tells the sender where in its window the message belongs.
  for (std::size_t i = 0; i < count(); ++i) {
    const bool exists = incoming(i).rank != MPI_PROC_NULL;
    const MPI_Aint offset = exists ? static_cast<std::byte*>(incoming(i).data) - base : 0;
    check(MPI_Sendrecv(&offset, 1, MPI_AINT, incoming(i).rank, incoming(i).tag, &target_offsets_[i],
                       1, MPI_AINT, outgoing(i).rank, outgoing(i).tag, comm(), MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  }
}

// The window contains the cells of the incoming messages if this is possible on all ranks.
// Otherwise the MPI library allocates the memory of the window.
std::byte* rma_backend::make_window(longshore::team& ranks) {
  const auto incoming_memory = contiguous_incoming();
  const bool has_no_messages = incoming_bytes() == 0;
  if (ranks.allreduce_value<int>(has_no_messages || !incoming_memory.empty(), reduction::min) !=
      0) {
    int code = MPI_SUCCESS;
    {
      const auto deadline = limit_time();
      code = MPI_Win_create(incoming_memory.data(), static_cast<MPI_Aint>(incoming_memory.size()),
                            1, MPI_INFO_NULL, comm(), &window_);
    }
    if (ranks.allreduce_value<int>(code == MPI_SUCCESS, reduction::min) != 0) {
      receive_in_place();
      return incoming_memory.data();
    }
    window_ = MPI_WIN_NULL;
  }
  const std::size_t bytes =
      ranks.allreduce_value(incoming_bytes() + cache_line_bytes, reduction::max);
  std::byte* base = nullptr;
  const auto deadline = limit_time();
  check(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm(), &base, &window_),
        "MPI_Win_allocate");
  receive_into(base);
  return base;
}

// MPI_Win_fence, puts, MPI_Win_fence. test() blocks like wait().
class rma_fence_backend final : public rma_backend {
 public:
  using rma_backend::rma_backend;
  void start() override {
    const auto deadline = limit_time();
    check(MPI_Win_fence(MPI_MODE_NOPRECEDE, window()), "MPI_Win_fence");
    put_all();
    in_flight_ = true;
  }

 private:
  [[nodiscard]] bool test_calls() override {
    const auto deadline = limit_time();
    wait_calls();
    return true;
  }
  void wait_calls() override {
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, window()), "MPI_Win_fence");
  }
};

MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks) {
  MPI_Group all_ranks = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &all_ranks), "MPI_Comm_group");
  check(MPI_Group_incl(all_ranks, static_cast<int>(ranks.size()), ranks.data(), &group),
        "MPI_Group_incl");
  MPI_Group_free(&all_ranks);
  return group;
}

// A group of no ranks is the predefined MPI_GROUP_EMPTY, which must not be freed.
void free_group(MPI_Group& group) {
  if (group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}

// MPI_Win_post and MPI_Win_start, puts, MPI_Win_complete and MPI_Win_wait.
class rma_pscw_backend final : public rma_backend {
 public:
  explicit rma_pscw_backend(const round_setup& setup)
      : rma_backend(setup),
        sources_(group_of(comm(), sources())),
        destinations_(group_of(comm(), destinations())) {}
  ~rma_pscw_backend() override {
    if (has_ended()) return;
    free_group(sources_);
    free_group(destinations_);
  }
  void start() override {
    const auto deadline = limit_time();
    check(MPI_Win_post(sources_, 0, window()), "MPI_Win_post");
    check(MPI_Win_start(destinations_, 0, window()), "MPI_Win_start");
    put_all();
    check(MPI_Win_complete(window()), "MPI_Win_complete");
    in_flight_ = true;
  }

 private:
  [[nodiscard]] bool test_calls() override {
    int is_complete = 0;
    check(MPI_Win_test(window(), &is_complete), "MPI_Win_test");
    return is_complete != 0;
  }
  void wait_calls() override { check(MPI_Win_wait(window()), "MPI_Win_wait"); }

  MPI_Group sources_ = MPI_GROUP_NULL, destinations_ = MPI_GROUP_NULL;
};

// MPI_Win_lock_all once. Then each exchange has an empty message "memory is writable", puts,
// MPI_Win_flush, and an empty message "memory is written" per neighbour. The two kinds of empty
// messages use the tags of two directions, because puts have no tags.
class rma_flush_backend final : public rma_backend {
 public:
  explicit rma_flush_backend(const round_setup& setup)
      : rma_backend(setup),
        sources_(sources()),
        destinations_(destinations()),
        writable_tag_(setup.first_tag),
        written_tag_(setup.first_tag + 1) {
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window()), "MPI_Win_lock_all");
  }
  ~rma_flush_backend() override {
    if (!has_ended()) MPI_Win_unlock_all(window());
  }
  void start() override;

 private:
  [[nodiscard]] bool test_calls() override {
    if (!test_all(requests_)) return false;
    check(MPI_Win_sync(window()), "MPI_Win_sync");
    return true;
  }
  void wait_calls() override {
    wait_all(requests_);
    check(MPI_Win_sync(window()), "MPI_Win_sync");
  }

  std::vector<int> sources_, destinations_;
  int writable_tag_, written_tag_;
  std::vector<MPI_Request> requests_;  // of the empty messages
};

void rma_flush_backend::start() {
  const auto deadline = limit_time();
  requests_.clear();
  for (const int source : sources_)
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, source, written_tag_, comm(), &requests_.emplace_back()),
          "MPI_Irecv");
  for (const int source : sources_)
    check(MPI_Isend(nullptr, 0, MPI_BYTE, source, writable_tag_, comm(), &requests_.emplace_back()),
          "MPI_Isend");
  for (const int destination : destinations_) {
    check(MPI_Recv(nullptr, 0, MPI_BYTE, destination, writable_tag_, comm(), MPI_STATUS_IGNORE),
          "MPI_Recv");
    for (std::size_t i = 0; i < count(); ++i)
      if (outgoing(i).rank == destination) put(i);
    check(MPI_Win_flush(destination, window()), "MPI_Win_flush");
    check(MPI_Isend(nullptr, 0, MPI_BYTE, destination, written_tag_, comm(),
                    &requests_.emplace_back()),
          "MPI_Isend");
  }
  in_flight_ = true;
}

}  // namespace

made_backend make_rma_backend(halo_mode mode, const round_setup& setup) {
  switch (mode) {
    case halo_mode::rma_pscw: return std::make_unique<rma_pscw_backend>(setup);
    case halo_mode::rma_flush: return std::make_unique<rma_flush_backend>(setup);
    default: return std::make_unique<rma_fence_backend>(setup);
  }
}

}  // namespace longshore::mpi
