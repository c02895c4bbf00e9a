// The CPUs that this process may use, and binding of threads to CPUs.
#pragma once

#include <span>
#include <vector>

namespace longshore {

/// Logical CPUs that the calling thread may run on, ascending. Never empty.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Number of cores whose time this process can use: the allowed CPUs, or fewer if a quota of its
/// control group says so. At least 1.
[[nodiscard]] int usable_cores();

/// Binds the calling thread to one CPU. Returns false if the kernel refuses; callers may ignore it.
bool pin_this_thread(int cpu) noexcept;

/// Binds the calling thread to these CPUs. Returns false if the kernel refuses.
bool bind_this_thread(std::span<const int> cpus) noexcept;

/// Binds any thread of this process, given by its kernel thread id (gettid). 0 is the calling
/// thread.
bool bind_thread(int thread, std::span<const int> cpus) noexcept;

/// The CPU on which the calling thread runs now, or -1 if unknown.
[[nodiscard]] int current_cpu() noexcept;

/// Binds the calling thread while the object lives. The destructor restores the thread's CPUs.
class pinned {
 public:
  /// Binds to `cpu`; a negative number binds nothing.
  explicit pinned(int cpu);
  ~pinned();
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace longshore
