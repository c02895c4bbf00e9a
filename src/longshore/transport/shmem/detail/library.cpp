// OpenSHMEM behind the interface of one-sided libraries: regions are allocations on the symmetric
// heap, and blocking calls run under a watchdog.
#include <longshore/core/bytes.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/failing_exit.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/shmem/detail/library.hpp>
#include <longshore/transport/shmem/detail/symmetric_heap.hpp>

#include <fmt/core.h>
#include <sched.h>
#include <shmem.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// The progress function of Open MPI; null in other libraries.
extern "C" __attribute__((weak)) void opal_progress();

namespace longshore::shmem {
namespace {

// Always 0. progress() tests this variable only to let the library make progress.
std::uint64_t never_written = 0;

// Returns the bytes of the heap that an allocation takes. The allocator of Open MPI 4.1 rounds up
// to powers of two.
std::size_t taken_bytes(std::size_t bytes) { return std::bit_ceil(round_up(bytes, page_bytes())); }

class heap_region final : public one_sided::region {
 public:
  heap_region(library& lib, std::byte* memory, std::size_t taken_bytes)
      : region(memory), library_(lib), watchdog_(lib.watchdog()), taken_bytes_(taken_bytes) {}
  ~heap_region() override {
    const watchdog::section limit(watchdog_, "shmem_free");
    shmem_free(local());
    library_.on_free(taken_bytes_);
  }

  std::byte* direct(int peer) override {
    return peer == shmem_my_pe() ? local() : static_cast<std::byte*>(shmem_ptr(local(), peer));
  }
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override {
    shmem_putmem_nbi(local() + offset, from, bytes, peer);
  }
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override {
    shmem_getmem_nbi(to, local() + offset, bytes, peer);
  }
  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override {
    const watchdog::section limit(watchdog_, "shmem_putmem");
    shmem_putmem(local() + offset, from, bytes, peer);
  }
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override {
    const watchdog::section limit(watchdog_, "shmem_getmem");
    shmem_getmem(to, local() + offset, bytes, peer);
  }
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override {
    const watchdog::section limit(watchdog_, "shmem_atomic_fetch_add");
    return shmem_long_atomic_fetch_add(reinterpret_cast<long*>(local() + offset), amount, peer);
  }
  void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                       std::size_t signal_offset, const std::uint64_t* signal) override {
    auto* const word = reinterpret_cast<std::uint64_t*>(local() + signal_offset);
    // Over a network, the put of a word waits for the completion of earlier puts.
    const watchdog::section limit(watchdog_, "a put with a signal");
#if SHMEM_MAJOR_VERSION > 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5)
    shmem_fence();  // earlier puts also arrive before the signal
    shmem_putmem_signal_nbi(local() + offset, from, bytes, word, *signal, SHMEM_SIGNAL_SET, peer);
#else
    if (bytes > 0) shmem_putmem_nbi(local() + offset, from, bytes, peer);
    shmem_fence();
    // Not an atomic set, because a library may implement that by a swap, which takes a round trip.
    shmem_uint64_p(word, *signal, peer);
#endif
  }

 private:
  library& library_;
  watchdog& watchdog_;
  std::size_t taken_bytes_;
};

}  // namespace

library::library(double timeout_seconds) : watchdog_(shmem_my_pe(), timeout_seconds) {
  const auto heaps = allgather(symmetric_heap_bytes());
  const auto [smallest, largest] = std::minmax_element(heaps.begin(), heaps.end());
  heaps_differ_ = *smallest != *largest;
  smallest_heap_bytes_ = *smallest;
}

int library::rank() const { return shmem_my_pe(); }
int library::size() const { return shmem_n_pes(); }

std::string library::version() const {
  char name[SHMEM_MAX_NAME_LEN + 1] = "";
  int major = 0, minor = 0;
  shmem_info_get_name(name);
  shmem_info_get_version(&major, &minor);
  return fmt::format("{} (OpenSHMEM {}.{})", name, major, minor);
}

std::unique_ptr<one_sided::region> library::allocate(std::size_t bytes) {
  const watchdog::section limit(watchdog_, "shmem_align");
  auto* const memory =
      static_cast<std::byte*>(shmem_align(page_bytes(), round_up(bytes, page_bytes())));
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, bytes);
  shmem_barrier_all();  // no rank writes into a part before the owner has cleared the part
  if (!checked_reachability_)
    for (int peer = 0; peer < size() && !over_network_; ++peer)
      over_network_ = peer != rank() && shmem_ptr(memory, peer) == nullptr;
  checked_reachability_ = true;
  used_bytes_ += taken_bytes(bytes);
  return std::make_unique<heap_region>(*this, memory, taken_bytes(bytes));
}

std::size_t library::available_bytes(int /*ranks*/) const {
  if (!heaps_differ_) return ~std::size_t{0};
  return smallest_heap_bytes_ > used_bytes_ ? std::bit_floor(smallest_heap_bytes_ - used_bytes_)
                                            : 0;
}

std::string library::capacity_text() const {
  return fmt::format(
      "the symmetric heap of a rank has {} bytes: start with a larger SHMEM_SYMMETRIC_SIZE, or use "
      "smaller arrays",
      environment_text("SHMEM_SYMMETRIC_SIZE").value_or("the library's default number of"));
}

std::vector<std::uint64_t> library::allgather(std::uint64_t mine) {
  const auto ranks = static_cast<std::size_t>(size());
  const watchdog::section limit(watchdog_, "the start of OpenSHMEM");
  // The work array is on the heap, because static variables of a shared library need not be
  // symmetric.
  const std::size_t bytes =
      (ranks + 1) * sizeof(std::uint64_t) + SHMEM_COLLECT_SYNC_SIZE * sizeof(long);
  auto* const memory = static_cast<std::uint64_t*>(shmem_malloc(bytes));
  if (memory == nullptr) {
    fmt::print(stderr, "longshore: rank {}: no memory for {} bytes: {}\n", rank(), bytes,
               capacity_text());
    std::fflush(nullptr);
    abort(runtime_failure_status);
  }
  long* const sync = reinterpret_cast<long*>(memory + ranks + 1);
  std::fill_n(sync, SHMEM_COLLECT_SYNC_SIZE, long{SHMEM_SYNC_VALUE});
  memory[ranks] = mine;
  shmem_barrier_all();
  shmem_fcollect64(memory, memory + ranks, 1, 0, 0, size(), sync);
  shmem_barrier_all();
  std::vector<std::uint64_t> gathered(memory, memory + ranks);
  shmem_free(memory);
  return gathered;
}

void library::quiet() {
  const watchdog::section limit(watchdog_, "shmem_quiet");
  shmem_quiet();
}

// shmem_test gives CPU time to a library that needs it for accesses of other ranks. In Open MPI 4.1
// shmem_test only reads, and nothing would arrive over TCP, so opal_progress() is called instead.
// The kernel needs a core to receive over TCP, so the rank also yields now and then. If all ranks
// share memory, opal_progress() and yields are not needed, and would only delay messages.
void library::progress() {
  if (over_network_ && &opal_progress != nullptr) {
    constexpr unsigned calls_per_yield = 8;  // opal_progress does not return whether it progressed
    opal_progress();
    if (++progress_calls_ % calls_per_yield == 0) sched_yield();
    return;
  }
  static_cast<void>(shmem_uint64_test(&never_written, SHMEM_CMP_NE, 0));
}

void library::abort(int status) {
  shmem_global_exit(status);
  std::_Exit(status);
}

}  // namespace longshore::shmem
