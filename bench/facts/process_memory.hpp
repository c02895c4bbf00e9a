// The memory that this process holds.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace longshore::bench {

/// Bytes of private and shared memory that this process has touched, without mapped files. 0 if
/// unknown.
[[nodiscard]] inline std::size_t process_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::size_t total = 0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:") || line.starts_with("RssShmem:"))
      total += std::stoul(line.substr(line.find(':') + 1)) * 1024;
  return total;
}

}  // namespace longshore::bench
