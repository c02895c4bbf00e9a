// A message made ready for packing or unpacking: one strided copy per part.
#pragma once

#include <longshore/halo/detail/message.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <vector>

namespace longshore::detail {

/// The copies between the parts of a message and memory in which they lie one after the other.
/// Large ones are done by several tasks, where there are any (`workers` not null), small ones
/// never.
class packed_message {
 public:
  packed_message() = default;
  explicit packed_message(const halo_message& message) { append(message); }
  /// More parts, behind those that there are.
  void append(const halo_message& message) {
    for (const auto& part : message.parts) {
      pieces_.push_back({part.first, bytes_, strided_copy(part.dense_at(nullptr), part),
                         strided_copy(part, part.dense_at(nullptr))});
      bytes_ += part.size_bytes();
    }
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }
  void pack(std::byte* message, tasks* workers = nullptr) const {
    for_shares(workers, [&](int task, int count) {
      for (const auto& p : pieces_) share(p.pack, message + p.offset, p.cells, task, count);
    });
  }
  /// Packs one part of the message only.
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
