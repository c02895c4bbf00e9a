// Starting and ending a run whose ranks are processing elements of OpenSHMEM.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <functional>

namespace longshore::shmem {

/// Starts OpenSHMEM, once in a process, and ends it.
class environment {
 public:
  /// Its heap holds `symmetric_bytes` of segments and channels, and never less than 1 GiB where the
  /// host has that: what is not used costs nothing. SHMEM_SYMMETRIC_SIZE, where it is set, decides
  /// instead; throws errc::usage when that is no size, or more than the host has. A start or an end
  /// that lasts longer than `timeout_seconds` (and some seconds at least; 0: none) ends the
  /// process.
  explicit environment(std::size_t symmetric_bytes = 0, double timeout_seconds = 0);
  ~environment();
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  double timeout_seconds_;
};

/// Bytes of this process's heap, as the environment has them ("256M"); the largest number where it
/// does not say. Not the same everywhere where hosts differ.
[[nodiscard]] std::size_t symmetric_heap_bytes();

/// Collective over all processing elements. REQUIRES: an environment.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

}  // namespace longshore::shmem
