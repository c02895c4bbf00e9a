// Which cores this process may use, and binding a thread to one of them.
#pragma once

#include <span>
#include <vector>

namespace longshore {

/// Logical CPUs that the calling thread may run on, ascending. Never empty.
[[nodiscard]] std::vector<int> allowed_cpus();

/// Cores' worth of time that this process can really have: allowed CPUs, less where a control
/// group's quota says so. At least 1.
[[nodiscard]] int usable_cores();

/// Binds the calling thread to one CPU. False when the kernel refuses: a hint, not a need.
bool pin_this_thread(int cpu) noexcept;

/// Lets the calling thread run on these CPUs and no others. False when the kernel refuses.
bool bind_this_thread(std::span<const int> cpus) noexcept;

/// The same for any thread of this process, by the kernel's number of it (gettid).
bool bind_thread(int thread, std::span<const int> cpus) noexcept;

/// The CPU the calling thread runs on now, or -1 when unknown.
[[nodiscard]] int current_cpu() noexcept;

/// Binds the calling thread for as long as the object lives, then gives it back the CPUs it had.
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
