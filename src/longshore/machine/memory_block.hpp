// Memory for the arrays of one rank, allocated by a policy that the user names.
#pragma once

#include <longshore/machine/pages.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Names of all policies, including those that this machine does not have.
[[nodiscard]] std::vector<std::string> memory_policy_names();

/// A sentence that says why a policy is not available here and what to do; nothing if the policy is
/// available. May load the policy's allocator.
[[nodiscard]] std::optional<std::string> why_no_memory(std::string_view policy);

/// A block of memory aligned to a cache line, freed with the object. The policies:
///   malloc            from the C library
///   calloc            from the C library, zero
///   huge              huge-explicit if the pool has enough free pages, else huge-transparent;
///                     obtained() tells which
///   huge-transparent  pages of the kernel, zero, with a request for transparent huge pages
///   huge-explicit     explicit huge pages (MAP_HUGETLB) of default size, zero, reserved at once
///   interleave        pages of the kernel, zero, placed round-robin on the NUMA nodes that the
///                     process may use
///   jemalloc, mimalloc, tcmalloc  from that library, loaded at first use
///
/// malloc, calloc and the other allocators may reuse freed memory. Reused pages stay on the NUMA
/// nodes of their first touch. Pages of the kernel are always fresh. So are blocks of malloc and
/// calloc above the allocator's threshold (at most 32 MiB for glibc).
class memory_block {
 public:
  /// Throws errc::usage for an unknown policy, errc::unsupported with the reason for a policy that
  /// is not available here, errc::out_of_memory if less memory is available.
  memory_block(std::size_t bytes, std::string_view policy);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// The policy in use: the requested policy, or the choice of `huge`. inspect_pages shows the
  /// pages that the kernel really provided.
  [[nodiscard]] const std::string& obtained() const noexcept { return obtained_; }

 private:
  void take_allocated(void* data, void (*release)(void*));
  void take_pages();

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string obtained_;
  std::unique_ptr<void, void (*)(void*)> allocated_{nullptr, nullptr};  // if from an allocator
  pages pages_;                                                         // if from the kernel
};

}  // namespace longshore
