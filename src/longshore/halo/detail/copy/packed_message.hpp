// The prepared copies that pack or unpack a message: one strided copy per part.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// Copies between the parts of a message and a buffer that holds them one after the other. Several
/// tasks share messages of at least 256 KiB if `workers` is not null.
class packed_message {
 public:
  packed_message() = default;
  explicit packed_message(const halo_message& message) { append(message); }
  /// Adds the parts of another message behind the present ones.
  void append(const halo_message& message) {
    for (const auto& part : message.parts) {
      pieces_.push_back({part.first, bytes_, strided_copy(part.contiguous_at(nullptr), part),
                         strided_copy(part, part.contiguous_at(nullptr))});
      bytes_ += part.size_bytes();
    }
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  void pack(std::byte* message, tasks* workers = nullptr) const {
    for_shares(workers, [&](int task, int count) {
      for (const auto& p : pieces_) share(p.pack, message + p.offset, p.cells, task, count);
    });
  }
  /// Packs a single part into its place in the buffer `message`.
  void pack_part(std::size_t part, std::byte* message) const {
    pieces_[part].pack(message + pieces_[part].offset, pieces_[part].cells);
  }
  void unpack(const std::byte* message, tasks* workers = nullptr) const {
    for_shares(workers, [&](int task, int count) {
      for (const auto& p : pieces_) share(p.unpack, p.cells, message + p.offset, task, count);
    });
  }

 private:
  static constexpr std::size_t least_bytes_for_tasks = 256 * 1024;
  struct piece {
    std::byte* cells;
    std::size_t offset;
    strided_copy pack, unpack;
  };
  template <class Body>
  void for_shares(tasks* workers, const Body& body) const {
    if (workers == nullptr || workers->count() == 1 || bytes_ < least_bytes_for_tasks)
      body(0, 1);
    else
      workers->run([&](int task) { body(task, workers->count()); });
  }
  static void share(const strided_copy& copy, std::byte* to, const std::byte* from, int task,
                    int count) {
    if (count == 1) return copy(to, from);
    const index_range mine = static_share(copy.piece_count(), task, count);
    copy.copy_pieces(to, from, mine.begin, mine.end);
  }

  std::vector<piece> pieces_;
  std::size_t bytes_ = 0;
};

}  // namespace longshore::detail
