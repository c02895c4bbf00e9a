// Memory of one rank that other ranks of its node can read and write. The owner allocates the
// memory without a collective call, and sends a handle, with which its neighbours map the memory.
//
// Ranks that are threads share all memory. Between processes the memory is an unnamed file
// (memfd_create(2)), which another process of the same user maps through /proc/PID/fd. On systems
// without memfd_create, or in containers with their own process numbers, a handle cannot be mapped.
// Halo messages are then packed and sent.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace longshore {

/// Describes memory to other processes of a host. If `file` is -1, only threads of the owning
/// process can reach the memory.
struct shared_memory_handle {
  std::uint64_t address = 0, bytes = 0;
  std::int64_t process = 0, file = -1;
  std::uint64_t device = 0, inode = 0;
};

namespace detail {
struct any_process_t {};
/// Requests memory that every process of the node can map, before a team exists.
inline constexpr any_process_t any_process;
}  // namespace detail

/// Memory that other ranks of the node can map. All bytes are zero at first. A page lies on the
/// NUMA node of the rank that writes the page first. Movable; addresses do not change.
class shareable_memory {
 public:
  shareable_memory() = default;
  /// Local. Throws errc::out_of_memory. If the system cannot share memory, the memory is private.
  shareable_memory(const team& ranks, std::size_t bytes);
  /// For shared_allocator.
  shareable_memory(detail::any_process_t, std::size_t bytes);
  ~shareable_memory();
  shareable_memory(shareable_memory&& other) noexcept;
  shareable_memory& operator=(shareable_memory&& other) noexcept;

  [[nodiscard]] std::byte* data() const noexcept {
    return reinterpret_cast<std::byte*>(handle_.address);
  }
  [[nodiscard]] const shared_memory_handle& handle() const noexcept { return handle_; }
  /// Expires when the memory is freed. Empty if the size is 0.
  [[nodiscard]] std::weak_ptr<const void> lifetime() const noexcept;

 private:
  void allocate(std::size_t bytes, bool for_processes);
  void swap(shareable_memory& other) noexcept;
  struct aligned_delete {
    void operator()(std::byte* memory) const noexcept;
  };
  shared_memory_handle handle_;
  // Private memory: pages, or the heap for small sizes. Plans need several small pieces of memory.
  // For pages the kernel is asked how much memory is left, which takes longer than the rest of a
  // plan.
  pages pages_;
  std::unique_ptr<std::byte[], aligned_delete> small_;
  std::shared_ptr<const void> lifetime_;
};

namespace detail {

struct found_memory {
  shared_memory_handle handle;
  std::weak_ptr<const void> lifetime;  ///< expires when the memory is freed
};

/// The shareable memory of this process that contains an address, so that users need not pass a
/// handle together with their arrays. Nothing if other processes cannot map the address. Any thread
/// may call this function.
[[nodiscard]] std::optional<found_memory> find_shareable(const std::byte* address);

}  // namespace detail
}  // namespace longshore
