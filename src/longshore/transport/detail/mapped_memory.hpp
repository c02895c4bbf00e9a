// Maps the shareable memory of other ranks of the node into this process.
#pragma once

#include <longshore/transport/shareable_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace longshore::detail {

/// Shareable memory of at least this size prefers huge pages, in all processes that map the memory.
inline constexpr std::size_t huge_pages_from_bytes = std::size_t{1} << 20;

/// Shareable memory of another process, mapped for the lifetime of this object. The mapping stays
/// valid if the owner frees the memory.
class mapped_memory {
 public:
  /// data() is null if the memory cannot be mapped, or if the handle describes another file than
  /// the file of its number.
  explicit mapped_memory(const shared_memory_handle& handle);
  ~mapped_memory();
  mapped_memory(const mapped_memory&) = delete;
  mapped_memory& operator=(const mapped_memory&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// The mapped memory of a rank's neighbours. Each memory is mapped once. It is unmapped when its
/// last owner is destroyed, or later, because the cache itself keeps up to `max_kept_bytes` of the
/// memory that was used last.
class mapped_memory_cache {
 public:
  /// `is_one_process` tells that all ranks are threads of this process.
  explicit mapped_memory_cache(bool is_one_process, std::size_t max_kept_bytes = 0)
      : is_one_process_(is_one_process), max_kept_bytes_(max_kept_bytes) {}
  struct mapping {
    std::byte* data = nullptr;                   ///< null if this rank cannot map the memory
    std::shared_ptr<const mapped_memory> owner;  ///< null within a process
  };
  [[nodiscard]] mapping map(const shared_memory_handle& handle);

 private:
  struct cached {
    std::weak_ptr<const mapped_memory> memory;
    std::shared_ptr<const mapped_memory> kept;  // null if the cache does not keep the memory
    std::uint64_t bytes = 0, last_use = 0;
  };
  static constexpr std::size_t min_cleanup_size = 64;
  void remove_unused();
  void keep(cached& entry, std::shared_ptr<const mapped_memory> memory);

  bool is_one_process_;
  std::size_t max_kept_bytes_, kept_bytes_ = 0;
  std::uint64_t uses_ = 0;
  std::size_t cleanup_at_ = min_cleanup_size;
  std::map<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>, cached>
      entries_;  // indexed by process, device and inode
};

}  // namespace longshore::detail
