// The MPI calls of the one-sided modes: makes the window, tells senders the offsets of their
// messages in it, and synchronises by fences, by post and start, or by flushes.
#include <longshore/halo/detail/mpi/rma_backend.hpp>

#include <longshore/core/bytes.hpp>

namespace longshore::mpi {

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

rma_backend::~rma_backend() {
  if (has_ended()) return;
  const auto deadline = limit_time();
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
}

void rma_backend::put(std::size_t pair) {
  pack(pair);
  const auto& out = outgoing(pair);
  check(MPI_Put(out.data, out.bytes, MPI_BYTE, out.rank, target_offsets_[pair], out.bytes, MPI_BYTE,
                window_),
        "MPI_Put");
}

void rma_backend::put_to(int rank) {
  for (std::size_t i = 0; i < count(); ++i)
    if (outgoing(i).rank == rank) put(i);
}

void rma_backend::put_all() {
  for (std::size_t i = 0; i < count(); ++i)
    if (outgoing(i).rank != MPI_PROC_NULL) put(i);
}

void rma_fence_backend::start() {
  const auto deadline = limit_time();
  check(MPI_Win_fence(MPI_MODE_NOPRECEDE, window()), "MPI_Win_fence");
  put_all();
  in_flight_ = true;
}

void rma_fence_backend::wait() {
  if (!in_flight_) return;
  {
    const auto deadline = limit_time();
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, window()), "MPI_Win_fence");
  }
  in_flight_ = false;
  unpack_all();
}

namespace {

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

}  // namespace

rma_pscw_backend::rma_pscw_backend(const round_setup& setup)
    : rma_backend(setup),
      sources_(group_of(comm(), sources())),
      destinations_(group_of(comm(), destinations())) {}

rma_pscw_backend::~rma_pscw_backend() {
  if (has_ended()) return;
  free_group(sources_);
  free_group(destinations_);
}

void rma_pscw_backend::start() {
  const auto deadline = limit_time();
  check(MPI_Win_post(sources_, 0, window()), "MPI_Win_post");
  check(MPI_Win_start(destinations_, 0, window()), "MPI_Win_start");
  put_all();
  check(MPI_Win_complete(window()), "MPI_Win_complete");
  in_flight_ = true;
}

bool rma_pscw_backend::test() {
  if (!in_flight_) return true;
  int is_complete = 0;
  check(MPI_Win_test(window(), &is_complete), "MPI_Win_test");
  if (is_complete == 0) return false;
  in_flight_ = false;
  unpack_all();
  return true;
}

void rma_pscw_backend::wait() {
  if (!in_flight_) return;
  {
    const auto deadline = limit_time();
    check(MPI_Win_wait(window()), "MPI_Win_wait");
  }
  in_flight_ = false;
  unpack_all();
}

// The two kinds of empty messages use the tags of two directions, because puts have no tags.
rma_flush_backend::rma_flush_backend(const round_setup& setup)
    : rma_backend(setup),
      sources_(sources()),
      destinations_(destinations()),
      writable_tag_(setup.first_tag),
      written_tag_(setup.first_tag + 1) {
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window()), "MPI_Win_lock_all");
}

rma_flush_backend::~rma_flush_backend() {
  if (!has_ended()) MPI_Win_unlock_all(window());
}

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
    put_to(destination);
    check(MPI_Win_flush(destination, window()), "MPI_Win_flush");
    check(MPI_Isend(nullptr, 0, MPI_BYTE, destination, written_tag_, comm(),
                    &requests_.emplace_back()),
          "MPI_Isend");
  }
  in_flight_ = true;
}

void rma_flush_backend::finish() {
  in_flight_ = false;
  check(MPI_Win_sync(window()), "MPI_Win_sync");
  unpack_all();
}

bool rma_flush_backend::test() {
  if (!in_flight_) return true;
  if (!test_all(requests_)) return false;
  finish();
  return true;
}

void rma_flush_backend::wait() {
  if (!in_flight_) return;
  {
    const auto deadline = limit_time();
    wait_all(requests_);
  }
  finish();
}

}  // namespace longshore::mpi
