#include <longshore/core/error.hpp>
#include <longshore/machine/thread_pool.hpp>

#include <system_error>

namespace longshore {
namespace {

// Some 50 microseconds: a region that follows at once finds everybody awake. Then straight to sleep: where others want the core,
// yielding it costs a time slice of theirs, while a sleeper is woken at once.
constexpr int most_spins = 2000;

void relax_core() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// CPUs of a task: one of them when pinned, else all. A thread inherits the binding of the one that starts it, so that
// threads of a pinned rank have to be given their CPUs in any case.
std::vector<int> cpus_of_task(std::span<const int> cpus, int task, int count, bool pin) {
  if (!pin) return {cpus.begin(), cpus.end()};
  return {cpus[static_cast<std::size_t>(task) * cpus.size() / static_cast<std::size_t>(count)]};
}

}  // namespace

thread_pool::thread_pool(const task_options& options) : spin_(options.spin) {
  const std::vector<int> allowed =
      options.cpus.empty() ? allowed_cpus() : std::vector<int>(options.cpus.begin(), options.cpus.end());
  try {
    threads_.reserve(static_cast<std::size_t>(options.count));
    for (int task = 1; task < options.count; ++task)
      threads_.emplace_back(&thread_pool::work, this, task, cpus_of_task(allowed, task, options.count, options.pin));
  } catch (const std::system_error& e) {
    stop();
    fail(errc::out_of_memory, "could not start {} tasks as threads: {}: use fewer tasks or ranks", options.count, e.what());
  } catch (...) {
    stop();
    throw;
  }
  // Only where it changes something: bindings of several pools then need not end in reverse order.
  if (options.pin && allowed_cpus() != std::vector{allowed.front()}) own_binding_.emplace(allowed.front());
}

thread_pool::~thread_pool() { stop(); }

void thread_pool::stop() noexcept {
  stopping_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void thread_pool::await_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) const noexcept {
  for (int i = 0; spin_ && i < most_spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax_core();
  }
  value.wait(old, std::memory_order_acquire);
}

void thread_pool::call_and_keep_error(int task) noexcept {
  try {
    call_.function(call_.context, task);
  } catch (...) {
    const std::lock_guard hold(error_guard_);
    if (!error_) error_ = std::current_exception();
  }
}

void thread_pool::work(int task, const std::vector<int>& cpus) {
  bind_this_thread(cpus);
  for (std::uint32_t seen = 0;; ++seen) {
    await_change(round_, seen);
    if (stopping_) return;
    call_and_keep_error(task);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
  }
}

void thread_pool::run(task_call call) {
  if (in_region_.exchange(true)) fail(errc::usage, "a parallel region was started inside a parallel region of the same tasks");
  call_ = call;
  unfinished_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  call_and_keep_error(0);
  for (std::uint32_t left; (left = unfinished_.load(std::memory_order_acquire)) != 0;) await_change(unfinished_, left);
  in_region_ = false;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace longshore
