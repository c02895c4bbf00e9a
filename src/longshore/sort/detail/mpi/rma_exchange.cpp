// The exchange rma: one-sided MPI. A rank reserves memory of the target by MPI_Fetch_and_op, stores
// its block by MPI_Put, and completes all blocks by one flush. (ISx planned, but did not have, such
// an exchange.)
#include <longshore/core/bytes.hpp>
#include <longshore/sort/detail/exchanges.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>

namespace longshore::mpi {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 30;  // the count of an MPI call is an int

// An MPI window over memory that MPI allocates and all ranks can access. The memory is aligned to a
// cache line. Creating and destroying a window are collective. (Open MPI 4.1 aligns to 8 bytes
// only. Each rank skips the bytes before the first cache line, and the ranks exchange how many
// bytes they skipped.)
class window {
 public:
  window(longshore::team& ranks, std::size_t bytes)
      : team_(dynamic_cast<mpi::team&>(ranks)), bytes_(bytes) {
    void* memory = nullptr;
    {
      const watchdog::section limit(team_.watchdog(), "MPI_Win_allocate");
      check(MPI_Win_allocate(static_cast<MPI_Aint>(bytes + cache_line_bytes), 1, MPI_INFO_NULL,
                             team_.comm(), &memory, &window_),
            "MPI_Win_allocate");
      MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
      check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    const std::size_t skipped = round_up(address, cache_line_bytes) - address;
    local_ = static_cast<std::byte*>(memory) + skipped;
    skipped_ = ranks.allgather_value(static_cast<unsigned char>(skipped));
  }
  ~window() {
    // After an exception the other ranks may never come here, so the window is not freed.
    if (has_ended() || std::uncaught_exceptions() > unwinding_) return;
    const watchdog::section limit(team_.watchdog(), "freeing a window");
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;

  [[nodiscard]] std::byte* local() const noexcept { return local_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

  std::int64_t fetch_add(int target, std::size_t offset, std::int64_t amount) {
    std::int64_t before = 0;
    const watchdog::section limit(team_.watchdog(), "MPI_Fetch_and_op");
    check(MPI_Fetch_and_op(&amount, &before, MPI_INT64_T, target, displacement(target, offset),
                           MPI_SUM, window_),
          "MPI_Fetch_and_op");
    check(MPI_Win_flush(target, window_), "MPI_Win_flush");
    return before;
  }
  void put(int target, std::size_t offset, const std::byte* from, std::size_t bytes) {
    for (std::size_t done = 0; done < bytes; done += piece_bytes) {
      const int piece = static_cast<int>(std::min(piece_bytes, bytes - done));
      check(MPI_Put(from + done, piece, MPI_BYTE, target, displacement(target, offset + done),
                    piece, MPI_BYTE, window_),
            "MPI_Put");
    }
  }
  void flush() {
    const watchdog::section limit(team_.watchdog(), "MPI_Win_flush_all");
    check(MPI_Win_flush_all(window_), "MPI_Win_flush_all");
  }
  void sync() { check(MPI_Win_sync(window_), "MPI_Win_sync"); }

 private:
  [[nodiscard]] MPI_Aint displacement(int target, std::size_t offset) const {
    return static_cast<MPI_Aint>(skipped_[static_cast<std::size_t>(target)] + offset);
  }

  longshore::mpi::team& team_;
  std::size_t bytes_;
  std::byte* local_ = nullptr;
  std::vector<unsigned char> skipped_;  // bytes before the first cache line, indexed by rank
  MPI_Win window_ = MPI_WIN_NULL;
  int unwinding_ = std::uncaught_exceptions();
};

class rma_exchange final : public block_exchange {
 public:
  rma_exchange(longshore::team& team, std::size_t item_bytes, std::vector<int> targets)
      : block_exchange(team, item_bytes),
        targets_(std::move(targets)),
        reserved_(std::make_unique<window>(team, 2 * sizeof(std::int64_t))) {
    std::memset(reserved_->local(), 0, 2 * sizeof(std::int64_t));
    reserved_->sync();
    team_.barrier();
  }

 private:
  std::byte* grow_incoming(std::size_t bytes, std::size_t max_bytes) override;
  void prepare_transfer(const block_counts&) override { ++runs_; }
  void transfer(const std::byte* outgoing, const arrival_callback& arrived) override;
  void after_barrier() override { buffer_->sync(); }

  std::vector<int> targets_;
  std::unique_ptr<window> buffer_;
  // Two counters of the bytes that are reserved on this rank. Runs use the counters in turn: the
  // counter of the last run is reset while the current run uses the other counter.
  std::unique_ptr<window> reserved_;
  unsigned runs_ = 0;
};

std::byte* rma_exchange::grow_incoming(std::size_t, std::size_t max_bytes) {
  if (!buffer_ || buffer_->size_bytes() < max_bytes) {
    buffer_.reset();
    buffer_ = std::make_unique<window>(team_, detail::with_headroom(max_bytes));
  }
  return buffer_->local();
}

void rma_exchange::transfer(const std::byte* outgoing, const arrival_callback&) {
  const int me = team_.rank();
  // The offsets 0 and 8 of the two counters, in turn.
  const std::size_t counter = runs_ % 2 * sizeof(std::int64_t),
                    last_counter = sizeof(std::int64_t) - counter;
  const auto reserve = [&](int target) {
    return static_cast<std::size_t>(
        reserved_->fetch_add(target, counter, static_cast<std::int64_t>(bytes_to(target))));
  };
  if (bytes_to(me) > 0)
    buffer_->put(me, reserve(me), outgoing + outgoing_starts_[me], bytes_to(me));
  for (const int target : targets_) {
    if (bytes_to(target) == 0) continue;
    buffer_->put(target, reserve(target), outgoing + outgoing_starts_[target], bytes_to(target));
    count_message(target, sizeof(std::int64_t));
    count_message(target, bytes_to(target));
  }
  buffer_->flush();
  // Resets the counter of the last run. No rank uses that counter now: all ranks have ended the
  // last run, and a barrier lies between this reset and the next run that uses the counter.
  const std::int64_t last_reserved = reserved_->fetch_add(me, last_counter, 0);
  if (last_reserved != 0) reserved_->fetch_add(me, last_counter, -last_reserved);
}

}  // namespace

detail::made_exchange make_rma_exchange(longshore::team& team, std::size_t item_bytes,
                                        std::vector<int> targets) {
  return std::make_unique<rma_exchange>(team, item_bytes, std::move(targets));
}

}  // namespace longshore::mpi
