// Memory of one rank that the other ranks of its node can load from and store to, without a
// collective call: its owner tells them a ticket, by which they find it.
//
// Ranks that are threads share all memory. Between processes it is an unnamed file in memory
// (memfd_create(2)), which another process of the same user maps by way of /proc/PID/fd. Where that
// is not possible (no such call, containers with process numbers of their own) a ticket cannot be
// redeemed, and messages are packed and sent instead.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

namespace longshore {

/// Where memory lies, in words that mean the same to other processes of the host. File -1: only for
/// threads of the process.
struct memory_ticket {
  std::uint64_t address = 0, bytes = 0;
  std::int64_t process = 0, file = -1;
  std::uint64_t device = 0, inode = 0;
};

/// Memory that can be read by others. Movable; addresses stay. Zero at first; lies on the NUMA node
/// of who writes first.
class readable_memory {
 public:
  readable_memory() = default;
  /// Local. Throws errc::out_of_memory. Where the system has no means to share it, it is ordinary
  /// memory.
  readable_memory(const team& ranks, std::size_t bytes);
  ~readable_memory();
  readable_memory(readable_memory&& other) noexcept { swap(other); }
  readable_memory& operator=(readable_memory&& other) noexcept {
    swap(other);
    return *this;
  }

  [[nodiscard]] std::byte* data() const noexcept {
    return reinterpret_cast<std::byte*>(ticket_.address);
  }
  [[nodiscard]] const memory_ticket& ticket() const noexcept { return ticket_; }

 private:
  void swap(readable_memory& other) noexcept {
    std::swap(ticket_, other.ticket_);
    std::swap(own_, other.own_);
    std::swap(small_, other.small_);
  }
  struct aligned_delete {
    void operator()(std::byte* memory) const noexcept;
  };
  memory_ticket ticket_;
  // When it is no file: pages, or for little memory, of which plans need some, the heap: asking the
  // kernel what is left takes longer than all else that a plan does.
  pages own_;
  std::unique_ptr<std::byte[], aligned_delete> small_;
};

/// A part of another process's memory, mapped here for as long as the object lives, whatever the
/// owner does meanwhile.
class mapped_memory {
 public:
  /// data() is null when it cannot be mapped, or what is found there is not what the ticket says.
  explicit mapped_memory(const memory_ticket& ticket);
  ~mapped_memory();
  mapped_memory(const mapped_memory&) = delete;
  mapped_memory& operator=(const mapped_memory&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

/// What one rank has mapped of its neighbours: each memory once, for as long as somebody uses it.
class mapped_neighbours {
 public:
  /// `in_process`: ranks are threads of this process.
  explicit mapped_neighbours(bool in_process) : in_process_(in_process) {}
  struct view {
    std::byte* data = nullptr;  ///< null: this rank cannot reach it
    std::shared_ptr<const mapped_memory> keep;
  };
  [[nodiscard]] view redeem(const memory_ticket& ticket);

 private:
  static constexpr std::size_t least_sweep = 64;
  void forget_unused();

  bool in_process_;
  std::size_t sweep_at_ = least_sweep;
  std::map<std::tuple<std::int64_t, std::uint64_t, std::uint64_t>,
           std::weak_ptr<const mapped_memory>>
      maps_;
};

}  // namespace longshore
