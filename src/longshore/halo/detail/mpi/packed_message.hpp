// The prepared copies that pack and unpack a message, with one strided copy per part.
#pragma once

#include <longshore/exchange/detail/copy/task_shares.hpp>
#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// Copies between the parts of a message and a buffer that holds the parts one after the other. If
/// `workers` is not null, these tasks share the copies of large messages.
class packed_message {
 public:
  packed_message() = default;
  explicit packed_message(const halo_message& message) {
    for (const auto& part : message.parts) {
      parts_.push_back({part.first, bytes_, strided_copy(part.contiguous_at(nullptr), part),
                        strided_copy(part, part.contiguous_at(nullptr))});
      bytes_ += part.size_bytes();
    }
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  void pack(std::byte* message, tasks* workers = nullptr) const {
    for_task_shares(workers, bytes_, [&](int task, int count) {
      for (const auto& p : parts_) p.pack.copy_share(message + p.offset, p.cells, task, count);
    });
  }
  /// Packs a single part to its offset in the buffer `message`.
  void pack_part(std::size_t part, std::byte* message) const {
    parts_[part].pack(message + parts_[part].offset, parts_[part].cells);
  }
  void unpack(const std::byte* message, tasks* workers = nullptr) const {
    for_task_shares(workers, bytes_, [&](int task, int count) {
      for (const auto& p : parts_) p.unpack.copy_share(p.cells, message + p.offset, task, count);
    });
  }

 private:
  struct prepared_part {
    std::byte* cells;
    std::size_t offset;  // in the buffer
    strided_copy pack, unpack;
  };

  std::vector<prepared_part> parts_;
  std::size_t bytes_ = 0;
};

}  // namespace longshore::detail
