// Starting and ending a run whose ranks are processing elements of OpenSHMEM.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>

namespace longshore::shmem {

/// Starts OpenSHMEM, which is possible once per process, and ends it.
class environment {
 public:
  /// The environment variable SHMEM_SYMMETRIC_SIZE sets the size of the symmetric heap. Throws
  /// errc::usage if its value is not a size, and errc::out_of_memory if the host does not have the
  /// memory. Without the variable, the heap holds `symmetric_bytes` of segments and channels, and
  /// at least 1 GiB if the host has the memory; unused memory costs nothing. If the start or the
  /// end takes longer than `timeout_seconds` (at least ten seconds; 0 means no deadline), the
  /// process ends.
  explicit environment(std::size_t symmetric_bytes = 0, double timeout_seconds = 0);
  ~environment();
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  double timeout_seconds_;
};

/// The heap size in SHMEM_SYMMETRIC_SIZE (such as 256M), in bytes; the largest integer if the
/// variable is not set. The sizes of different hosts may differ.
[[nodiscard]] std::size_t symmetric_heap_bytes();

/// Collective over all processing elements. REQUIRES: an environment.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

}  // namespace longshore::shmem
