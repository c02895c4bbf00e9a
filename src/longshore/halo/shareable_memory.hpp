// Memory of one rank that other ranks of its node can load from and store to. Making it needs no
// collective call: the owner sends a handle, with which its neighbours map the memory.
//
// Ranks that are threads share all memory. Between processes the memory is an unnamed file
// (memfd_create(2)), which another process of the same user maps by way of /proc/PID/fd. On systems
// without this call, or in containers with their own process numbers, a handle cannot be mapped.
// Messages are then packed and sent.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace longshore {

/// Describes memory to the other processes of a host. If `file` is -1, only threads of the process
/// can reach it.
struct memory_handle {
  std::uint64_t address = 0, bytes = 0;
  std::int64_t process = 0, file = -1;
  std::uint64_t device = 0, inode = 0;
};

/// Memory that other ranks of the node can map. It is zero at first, and lies on the NUMA node of
/// the first writer. Movable; addresses stay.
class shareable_memory {
 public:
  shareable_memory() = default;
  /// Local. Throws errc::out_of_memory. If the system cannot share memory, this is ordinary memory.
  shareable_memory(const team& ranks, std::size_t bytes);
  ~shareable_memory();
  shareable_memory(shareable_memory&& other) noexcept { swap(other); }
  shareable_memory& operator=(shareable_memory&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] std::byte* data() const noexcept {
    return reinterpret_cast<std::byte*>(handle_.address);
  }
  [[nodiscard]] const memory_handle& handle() const noexcept { return handle_; }
  [[deprecated("use handle()")]] [[nodiscard]] const memory_handle& ticket() const noexcept {
    return handle_;
  }

 private:
  void swap(shareable_memory& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(pages_, other.pages_);
    std::swap(small_, other.small_);
  }
  struct aligned_delete {
    void operator()(std::byte* memory) const noexcept;
  };
  memory_handle handle_;
  // Memory that is not a file: pages, or the heap for small sizes. Plans need several small pieces,
  // and asking the kernel how much memory is left takes longer than the rest of a plan.
  pages pages_;
  std::unique_ptr<std::byte[], aligned_delete> small_;
};

/// @cond Old names, until the next version.
using readable_memory [[deprecated("use shareable_memory")]] = shareable_memory;
using memory_ticket [[deprecated("use memory_handle")]] = memory_handle;
/// @endcond

}  // namespace longshore
