// Memory for the arrays of one rank, by the name of a policy.
#pragma once

#include <longshore/machine/pages.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Names of all policies, also of those that this machine does not have.
[[nodiscard]] std::vector<std::string> memory_policy_names();

/// Why a policy cannot be had here, and what would help, as a sentence, or nothing. May load the
/// allocator that it is about.
[[nodiscard]] std::optional<std::string> why_no_memory(std::string_view policy);

/// Bytes aligned to a cache line, freed with the object:
///   malloc            from the C library
///   calloc            the same, zero
///   huge              huge-explicit when the pool has enough of them now, else huge-transparent (obtained() says which)
///   huge-transparent  pages straight from the kernel, zero, with transparent huge pages asked for (a request)
///   huge-explicit     explicit huge pages (MAP_HUGETLB) of the default size, zero, set aside at once
///   interleave        pages straight from the kernel, zero, spread round-robin over the NUMA nodes that the process may use
///   jemalloc, mimalloc, tcmalloc  from that library, loaded at first use
///
/// A block of malloc, calloc or another allocator may be recycled: its pages then lie where an
/// earlier owner touched them, and first touch decides nothing. Blocks above the allocator's
/// threshold (32 MiB at most for glibc) are always fresh in malloc and calloc; those of the
/// policies with pages straight from the kernel always are.
class memory_block {
 public:
  /// Throws errc::usage for an unknown policy, errc::unsupported with the reason for one that is
  /// not to be had here, errc::out_of_memory when there is less memory than asked for.
  memory_block(std::size_t bytes, std::string_view policy);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// The policy that was followed: the one asked for, or for `huge` the one that it came down to.
  /// What the kernel then made of it is seen by inspect_pages.
  [[nodiscard]] const std::string& obtained() const noexcept { return obtained_; }

 private:
  void take_allocated(void* data, void (*release)(void*));
  void take_pages();

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string obtained_;
  // of the policies that are allocators
  std::unique_ptr<void, void (*)(void*)> allocated_{nullptr, nullptr};
  pages pages_;  // of the others
};

}  // namespace longshore
