// The CPUs that this process may use, and binding of threads to CPUs.
#pragma once

#include <span>
#include <vector>

namespace longshore {

/// Logical CPUs that the calling thread may run on, ascending. Never empty.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Number of cores whose time this process can use: the number of allowed CPUs, or less if the
/// control group of the process has a smaller quota. At least 1.
[[nodiscard]] int usable_cores();

/// Binds the calling thread to these CPUs. Returns false if the kernel refuses; callers may ignore
/// the result.
bool bind_this_thread(std::span<const int> cpus) noexcept;

/// Binds the thread with the kernel's thread id `thread_id` (gettid) in the same way.
bool bind_thread(int thread_id, std::span<const int> cpus) noexcept;

/// Binds the calling thread while the object lives. The destructor restores the thread's CPUs.
class pinned {
 public:
  /// Binds to `cpu`; a negative number binds nothing.
  explicit pinned(int cpu);
  ~pinned();
  pinned(const pinned&) = delete;
  pinned& operator=(const pinned&) = delete;

 private:
  std::vector<int> original_cpus_;  // empty if the object binds nothing
};

}  // namespace longshore
