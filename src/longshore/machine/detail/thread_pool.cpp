// A pool of threads that run a function together. A counter that changes starts a region, and a
// countdown ends it. A thread that waits spins for a while, and then sleeps until the counter
// changes.
#include <longshore/machine/detail/thread_pool.hpp>

#include <longshore/core/error.hpp>

#include <system_error>

namespace longshore::detail {
namespace {

// A waiting thread spins for about 50 us, so that a region that follows at once finds all threads
// awake. Then the thread sleeps instead of yielding its core. The kernel wakes a sleeping thread at
// once, but a thread that has yielded waits until the time slice of another thread ends.
constexpr int max_spins = 2000;

void relax_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace

thread_pool::thread_pool(const task_options& options) : spin_(options.spin) {
  const auto cpus = cpus_of_tasks(options);
  try {
    threads_.reserve(cpus.size());
    for (int task = 1; task < options.count; ++task)
      threads_.emplace_back(&thread_pool::work, this, task, cpus[static_cast<std::size_t>(task)]);
  } catch (const std::system_error& e) {
    stop();
    fail(errc::out_of_memory, "could not start {} tasks as threads: {}: use fewer tasks or ranks",
         options.count, e.what());
  } catch (...) {
    stop();
    throw;
  }
  task_0_binding_.emplace(options, cpus);
}

thread_pool::~thread_pool() { stop(); }

void thread_pool::stop() noexcept {
  stopping_ = true;  // the release of the next line publishes this to the threads, as in run()
  region_number_.fetch_add(1, std::memory_order_release);
  region_number_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void thread_pool::await_change(const std::atomic<std::uint32_t>& value,
                               std::uint32_t old) const noexcept {
  for (int i = 0; spin_ && i < max_spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax_core();
  }
  value.wait(old, std::memory_order_acquire);
}

void thread_pool::work(int task, const std::vector<int>& cpus) {
  bind_this_thread(cpus);
  // Every thread takes part in every region, so this count of regions follows region_number_.
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(region_number_, seen);
    if (stopping_) return;
    body_(task);
    // The release shows the writes of this task to the caller of run(), who waits for zero.
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

void thread_pool::run(region_body body) {
  // No thread reads body_ or changes unfinished_ now, because the last region has ended. The
  // release of region_number_ publishes both to the threads, which read region_number_ with
  // acquire.
  body_ = body;
  unfinished_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  region_number_.fetch_add(1, std::memory_order_release);
  region_number_.notify_all();
  body(0);
  for (std::uint32_t unfinished; (unfinished = unfinished_.load(std::memory_order_acquire)) != 0;)
    await_change(unfinished_, unfinished);
}

}  // namespace longshore::detail
