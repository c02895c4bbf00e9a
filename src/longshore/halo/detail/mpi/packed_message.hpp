// The prepared copies that pack and unpack a message, with one strided copy per part.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// Copies between the parts of a message and a buffer that holds the parts one after the other. If
/// `workers` is not null, these tasks share the copies of messages of at least 256 KiB.
class packed_message {
 public:
  packed_message() = default;
  /// Streaming stores bypass the caches of this core. pack() uses them for parts whose elements and
  /// offsets in the buffer are multiples of 4 bytes.
  explicit packed_message(const halo_message& message,
                          copy_stores pack_stores = copy_stores::ordinary)
      : pack_stores_(pack_stores) {
    append(message);
  }
  /// Adds the parts of another message at the end.
  void append(const halo_message& message) {
    for (const auto& part : message.parts) {
      const bool is_aligned = part.element_bytes % 4 == 0 && bytes_ % 4 == 0;
      const auto stores = is_aligned ? pack_stores_ : copy_stores::ordinary;
      parts_.push_back({part.first, bytes_, strided_copy(part.contiguous_at(nullptr), part, stores),
                        strided_copy(part, part.contiguous_at(nullptr))});
      bytes_ += part.size_bytes();
      const auto& unpack = parts_.back().unpack;
      const auto run_bytes = static_cast<double>(unpack.run_bytes());
      lines_ += unpack.line_count(1 + run_bytes / cache_line_bytes);
    }
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  /// About the number of cache lines that runs of cells touch. A run longer than 64 bytes counts as
  /// one line, because its lines follow each other.
  [[nodiscard]] double line_count() const noexcept { return lines_; }
  /// REQUIRES: with streaming stores, `message` is aligned to 4 bytes. Other cores see the stores
  /// of pack() before later stores.
  void pack(std::byte* message, tasks* workers = nullptr) const {
    for_shares(workers, [&](int task, int count) {
      for (const auto& p : parts_) copy_share(p.pack, message + p.offset, p.cells, task, count);
      if (pack_stores_ == copy_stores::streaming) fence_streaming_stores();
    });
  }
  /// Packs a single part to its offset in the buffer `message`.
  void pack_part(std::size_t part, std::byte* message) const {
    parts_[part].pack(message + parts_[part].offset, parts_[part].cells);
  }
  void unpack(const std::byte* message, tasks* workers = nullptr) const {
    for_shares(workers, [&](int task, int count) {
      for (const auto& p : parts_) copy_share(p.unpack, p.cells, message + p.offset, task, count);
    });
  }

 private:
  static constexpr std::size_t tasks_from_bytes = 256 * 1024;
  struct prepared_part {
    std::byte* cells;
    std::size_t offset;  // in the buffer
    strided_copy pack, unpack;
  };
  template <class Body>
  void for_shares(tasks* workers, const Body& body) const {
    if (workers == nullptr || workers->count() == 1 || bytes_ < tasks_from_bytes)
      body(0, 1);
    else
      workers->run([&](int task) { body(task, workers->count()); });
  }
  static void copy_share(const strided_copy& copy, std::byte* to, const std::byte* from, int task,
                         int count) {
    if (count == 1) return copy(to, from);
    const index_range share = static_share(copy.piece_count(), task, count);
    copy.copy_pieces(to, from, share.begin, share.end);
  }

  copy_stores pack_stores_ = copy_stores::ordinary;
  std::vector<prepared_part> parts_;
  std::size_t bytes_ = 0;
  double lines_ = 0;
};

}  // namespace longshore::detail
