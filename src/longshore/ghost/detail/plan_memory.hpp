// The memories of a plan on one rank: the fields of the user, and buffers between rounds.
#pragma once

#include <longshore/ghost/detail/index_list.hpp>
#include <longshore/ghost/detail/node_access.hpp>
#include <longshore/ghost/ghost_field.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace longshore::detail {

/// For each memory of a rank (ghost_program.hpp), the elements of each field.
using rank_memories = std::vector<std::vector<element_memory>>;

/// Where the elements of each field begin in a message or a buffer of `count` elements. Fields
/// follow each other, and each is aligned as its elements may need.
class packed_layout {
 public:
  packed_layout(std::span<const ghost_memory> fields, std::size_t count) {
    for (const auto& field : fields) {
      offsets_.push_back(bytes_ = round_up(bytes_, alignment(field.element_bytes)));
      bytes_ += count * field.element_bytes;
      payload_bytes_ += count * field.element_bytes;
    }
  }
  [[nodiscard]] std::size_t offset(std::size_t field) const noexcept { return offsets_[field]; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t payload_bytes() const noexcept { return payload_bytes_; }

  /// Returns `offset`, rounded up so that elements of any field may follow.
  static std::size_t aligned(std::size_t offset, std::span<const ghost_memory> fields) noexcept {
    for (const auto& field : fields) offset = round_up(offset, alignment(field.element_bytes));
    return offset;  // alignments are powers of two, so the largest decides
  }

 private:
  // The alignment of a type divides its size.
  static std::size_t alignment(std::size_t element_bytes) noexcept {
    return std::min(std::size_t{1} << std::countr_zero(element_bytes), cache_line_bytes);
  }

  std::vector<std::size_t> offsets_;
  std::size_t bytes_ = 0, payload_bytes_ = 0;
};

/// The user's fields and the buffers of both programs.
class plan_memory {
 public:
  plan_memory(team& ranks, std::span<const ghost_memory> fields, std::size_t owned_elements,
              std::size_t ghost_elements)
      : ranks_(ranks), fields_(fields), elements_{owned_elements, ghost_elements} {
    std::vector<element_memory> owned, ghosts;
    for (const auto& field : fields) {
      owned.push_back({field.owned, field.owned_stride_bytes});
      ghosts.push_back({field.ghosts, field.ghost_stride_bytes});
    }
    memories_ = {std::move(owned), std::move(ghosts)};
  }
  /// The next plan may use the buffer, because the peers have read what they needed.
  ~plan_memory() { node_access::of(ranks_).buffers().give_back(std::move(buffer_)); }
  plan_memory(const plan_memory&) = delete;
  plan_memory& operator=(const plan_memory&) = delete;

  /// Adds buffers, in one piece of memory. Throws errc::out_of_memory.
  void add_buffers(std::span<const std::size_t> elements) {
    std::vector<packed_layout> layouts;
    std::vector<std::size_t> begins;
    for (const auto count : elements) {
      const auto& layout = layouts.emplace_back(fields_, count);
      begins.push_back(buffer_bytes_);
      buffer_bytes_ += round_up(layout.bytes(), cache_line_bytes);
    }
    buffer_ = node_access::of(ranks_).buffers().take(ranks_, buffer_bytes_);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements_.push_back(elements[i]);
      auto& memory = memories_.emplace_back();
      for (std::size_t f = 0; f < fields_.size(); ++f)
        memory.push_back({buffer_.data() + begins[i] + layouts[i].offset(f),
                          static_cast<std::ptrdiff_t>(fields_[f].element_bytes)});
    }
  }
  [[nodiscard]] const rank_memories& memories() const noexcept { return memories_; }
  /// The number of elements of each memory.
  [[nodiscard]] std::span<const std::size_t> elements() const noexcept { return elements_; }
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }

 private:
  team& ranks_;
  std::span<const ghost_memory> fields_;
  std::vector<std::size_t> elements_;
  shareable_memory buffer_;
  rank_memories memories_;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace longshore::detail
