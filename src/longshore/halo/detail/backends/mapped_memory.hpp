// Memory of other ranks of the node, mapped into this process.
#pragma once

#include <longshore/halo/shareable_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace longshore::detail {

/// Shareable memory of at least this size prefers huge pages, at its owner and where it is mapped.
inline constexpr std::size_t huge_pages_from_bytes = std::size_t{1} << 20;

/// Shareable memory of another process, mapped here for the lifetime of this object. It stays valid
/// if the owner frees the memory.
class mapped_memory {
 public:
  /// data() is null if the memory cannot be mapped, or if the file found is not the one that the
  /// handle describes.
  explicit mapped_memory(const memory_handle& handle);
  ~mapped_memory();
  mapped_memory(const mapped_memory&) = delete;
  mapped_memory& operator=(const mapped_memory&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// The memory of neighbours that one rank has mapped. Each memory is mapped once, and unmapped when
/// its last user is gone.
class mapped_neighbours {
 public:
  /// `in_process`: ranks are threads of this process.
  explicit mapped_neighbours(bool in_process) : in_process_(in_process) {}
  struct view {
    std::byte* data = nullptr;  ///< null: this rank cannot reach the memory
    std::shared_ptr<const mapped_memory> keep;
  };
  [[nodiscard]] view map(const memory_handle& handle);

 private:
  static constexpr std::size_t least_cleanup = 64;
  void forget_unused();

  bool in_process_;
  std::size_t cleanup_at_ = least_cleanup;
  std::map<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>,
           std::weak_ptr<const mapped_memory>>
      maps_;
};

}  // namespace longshore::detail
