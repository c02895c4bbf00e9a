#include <longshore/machine/detail/thread_pool.hpp>

#include <longshore/core/error.hpp>

#include <system_error>

namespace longshore::detail {
namespace {

// About 50 us, so that a region that follows at once finds all threads awake. Then they sleep
// instead of yielding. If another thread needs the core, a thread that yielded waits for that
// thread's time slice to end, but a sleeping thread is woken at once.
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
  own_binding_.emplace(options, cpus);
}

thread_pool::~thread_pool() { stop(); }

void thread_pool::stop() noexcept {
  stopping_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
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
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(round_, seen);
    if (stopping_) return;
    call_.function(call_.context, task);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

void thread_pool::run(task_call call) {
  call_ = call;
  unfinished_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  call.function(call.context, 0);
  for (std::uint32_t left; (left = unfinished_.load(std::memory_order_acquire)) != 0;)
    await_change(unfinished_, left);
}

}  // namespace longshore::detail
