// Accesses the parts of a segment: by loads and stores within a node, by MPI_Put and MPI_Get on a
// window otherwise. Blocking MPI calls run under a watchdog.
#include <longshore/transport/detail/for_each_piece.hpp>
#include <longshore/transport/mpi/detail/segment.hpp>

#include <atomic>
#include <cstring>
#include <exception>

namespace longshore::mpi {
namespace {

// The longest piece of one MPI call, whose count is an int.
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

std::vector<std::byte*> direct_parts(const team& team, const segment_memory& memory) {
  std::vector<std::byte*> parts(team.size(), nullptr);
  for (const int rank : team.nodes().my_ranks()) parts[rank] = memory.part(rank);
  return parts;
}

}  // namespace

segment_memory::segment_memory(team& team, std::size_t bytes)
    : nodes_(team.nodes()),
      is_shared_window_(team.nodes().node_count() > 1 && team.host_comm().size() == team.size()),
      memory_(std::in_place, sharing_ranks(team), bytes) {
  if (is_shared_window_) window_ = memory_->window();
  if (is_shared_window_ || team.nodes().node_count() == 1) return;
  const watchdog::section limit(team.watchdog(), "MPI_Win_create");
  check(MPI_Win_create(memory_->part(index_of(team.rank())), static_cast<MPI_Aint>(bytes), 1,
                       MPI_INFO_NULL, team.comm(), &window_),
        "MPI_Win_create between nodes (Open MPI over TCP needs OMPI_MCA_osc=ucx,sm and more: "
        "docs/reference/transports.md)");
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}

void segment_memory::close(team& team) {
  // The calls below have no deadline, so this barrier waits for all ranks first.
  team.checked_barrier({collective::free});
  if (window_ != MPI_WIN_NULL && !is_shared_window_) {
    const watchdog::section limit(team.watchdog(), "freeing a segment");
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  memory_.reset();  // collective, too
}

segment::segment(team& team, std::size_t bytes)
    : segment(team, std::make_unique<segment_memory>(team, bytes), bytes) {}

segment::segment(team& team, std::unique_ptr<segment_memory> memory, std::size_t bytes)
    : longshore::segment(bytes, memory->part(team.rank()), direct_parts(team, *memory)),
      team_(team),
      memory_(std::move(memory)),
      window_(memory_->window()),
      watchdog_(team.watchdog()),
      unwinding_(std::uncaught_exceptions()) {}

segment::~segment() {
  if (lifetime_of_team_.reports_end("an array"))
    static_cast<void>(memory_.release());
  else
    team_.release(std::move(memory_), std::uncaught_exceptions() > unwinding_);
}

void segment::put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  check_range(peer, offset, bytes);
  if (bytes == 0) return;
  if (std::byte* part = direct(peer)) {
    std::memcpy(part + offset, from, bytes);
    return;
  }
  detail::for_each_piece(bytes, piece_bytes, [&](std::size_t done, std::size_t length) {
    const int n = static_cast<int>(length);
    const auto to = memory_->target_of(peer, offset + done);
    check(MPI_Put(static_cast<const std::byte*>(from) + done, n, MPI_BYTE, to.rank, to.offset, n,
                  MPI_BYTE, window_),
          "MPI_Put");
  });
  pending_ = true;
}

void segment::get_start(int peer, std::size_t offset, void* to, std::size_t bytes) {
  check_range(peer, offset, bytes);
  if (bytes == 0) return;
  if (const std::byte* part = direct(peer)) {
    std::memcpy(to, part + offset, bytes);
    return;
  }
  detail::for_each_piece(bytes, piece_bytes, [&](std::size_t done, std::size_t length) {
    const int n = static_cast<int>(length);
    const auto from = memory_->target_of(peer, offset + done);
    check(MPI_Get(static_cast<std::byte*>(to) + done, n, MPI_BYTE, from.rank, from.offset, n,
                  MPI_BYTE, window_),
          "MPI_Get");
  });
  pending_ = true;
}

void segment::put(int peer, std::size_t offset, const void* from, std::size_t bytes) {
  put_start(peer, offset, from, bytes);
  if (direct(peer) != nullptr) return;
  const watchdog::section limit(watchdog_, "MPI_Win_flush_local");
  check(MPI_Win_flush_local(memory_->target_of(peer, 0).rank, window_), "MPI_Win_flush_local");
}

void segment::get(int peer, std::size_t offset, void* to, std::size_t bytes) {
  get_start(peer, offset, to, bytes);
  if (direct(peer) != nullptr) return;
  const watchdog::section limit(watchdog_, "MPI_Win_flush");
  check(MPI_Win_flush(memory_->target_of(peer, 0).rank, window_), "MPI_Win_flush");
}

void segment::fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                              std::int64_t* previous) {
  if (begin_fetch_add(peer, offset, amount, previous)) pending_ = true;
}

std::int64_t segment::fetch_add(int peer, std::size_t offset, std::int64_t amount) {
  std::int64_t previous = 0;
  if (!begin_fetch_add(peer, offset, &amount, &previous)) return previous;
  const watchdog::section limit(watchdog_, "MPI_Win_flush");
  check(MPI_Win_flush(memory_->target_of(peer, 0).rank, window_), "MPI_Win_flush");
  return previous;
}

bool segment::begin_fetch_add(int peer, std::size_t offset, const std::int64_t* amount,
                              std::int64_t* previous) {
  check_integer(peer, offset);
  // Atomics of the processor and of MPI are not atomic with respect to each other, so all ranks use
  // the same kind.
  if (window_ == MPI_WIN_NULL) {
    *previous = std::atomic_ref(*reinterpret_cast<std::int64_t*>(direct(peer) + offset))
                    .fetch_add(*amount, std::memory_order_acq_rel);
    return false;
  }
  const watchdog::section limit(watchdog_, "MPI_Fetch_and_op");
  const auto to = memory_->target_of(peer, offset);
  check(MPI_Fetch_and_op(amount, previous, MPI_INT64_T, to.rank, to.offset, MPI_SUM, window_),
        "MPI_Fetch_and_op");
  return true;
}

void segment::quiet() {
  std::atomic_thread_fence(std::memory_order_release);
  if (!pending_) return;
  const watchdog::section limit(watchdog_, "MPI_Win_flush_all");
  check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
  pending_ = false;
}

}  // namespace longshore::mpi
