// Memory for the arrays of one rank, by the name of a policy.
#pragma once

#include <longshore/machine/pages.hpp>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Names of all policies, also of those that this build does not have.
[[nodiscard]] std::vector<std::string> memory_policy_names();

/// Why a policy cannot be had here, as a sentence, or nothing.
[[nodiscard]] std::optional<std::string> why_no_memory(std::string_view policy);

/// Bytes aligned to a cache line, freed with the object:
///   malloc  from the C library; on Linux a large block is untouched until first written
///   calloc  the same, zero
///   huge    pages straight from the kernel, with transparent huge pages asked for (the kernel may refuse)
class memory_block {
 public:
  /// Throws errc::usage for an unknown policy, errc::unsupported for one that this build does not have, errc::out_of_memory when
  /// there is less memory than asked for.
  memory_block(std::size_t bytes, std::string_view policy);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::unique_ptr<void, decltype(&std::free)> allocated_{nullptr, &std::free};  // malloc, calloc
  pages pages_;                                                                 // huge
};

}  // namespace longshore
