// The memories of a plan on one rank: the fields of the user, and buffers between rounds.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/exchange/detail/bound_fields.hpp>
#include <longshore/exchange/detail/device/device_access.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::detail {

/// Where the elements of each field of a memory begin in a message or a buffer. Fields follow each
/// other, and each is aligned as its elements may need.
class packed_layout {
 public:
  /// The elements begin at `offset` or a little later.
  packed_layout(const bound_fields& fields, std::size_t count, std::size_t offset = 0)
      : end_(offset) {
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const std::size_t bytes = fields[f].element_bytes;
      // The alignment of a type divides its size.
      end_ = round_up(end_, std::min(std::size_t{1} << std::countr_zero(bytes), cache_line_bytes));
      if (f == 0)
        first_ = end_;
      else
        others_.push_back(end_);
      end_ += count * bytes;
    }
  }
  [[nodiscard]] std::size_t offset(std::size_t field) const noexcept {
    return field == 0 ? first_ : others_[field - 1];
  }
  /// The offset behind the last element.
  [[nodiscard]] std::size_t end() const noexcept { return end_; }

 private:
  std::size_t first_ = 0, end_;
  std::vector<std::size_t> others_;
};

/// The user's memories, and the buffers of all programs.
class plan_memory {
 public:
  /// Memories of cells, of which none is empty.
  plan_memory(team& ranks, const rank_memories& memories)
      : plan_memory(ranks, memories, std::vector<std::size_t>(memories.size(), 1)) {}
  /// `elements` are the numbers of elements of the memories.
  plan_memory(team& ranks, rank_memories memories, std::vector<std::size_t> elements)
      : ranks_(ranks),
        elements_(std::move(elements)),
        memories_(std::move(memories)),
        user_memories_(elements_.size()) {}
  /// The next plan may use the buffer, because the peers have read what they needed.
  ~plan_memory() {
    if (!pinned_) node_access::of(ranks_).buffers().give_back(std::move(buffer_));
  }
  plan_memory(const plan_memory&) = delete;
  plan_memory& operator=(const plan_memory&) = delete;

  /// Adds one buffer for each entry of `elements`, its number of elements. The buffers have the
  /// fields of memory 0, and lie in one piece of memory. Throws errc::out_of_memory.
  void add_buffers(std::span<const std::size_t> elements) {
    std::vector<packed_layout> layouts;
    std::vector<std::size_t> begins;
    for (const auto count : elements) {
      const auto& layout = layouts.emplace_back(memories_[0], count);
      begins.push_back(buffer_bytes_);
      buffer_bytes_ += round_up(layout.end(), cache_line_bytes);
    }
    // Launches of a device use pinned memory, which other processes cannot map.
    if (auto* const driver = installed_driver(); driver != nullptr && !place().has_host)
      pinned_ = driver->allocate_pinned(buffer_bytes_);
    else
      buffer_ = node_access::of(ranks_).buffers().take(ranks_, buffer_bytes_);
    std::byte* const begin = pinned_ ? pinned_.get() : buffer_.data();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements_.push_back(elements[i]);
      auto memory = memories_[0];
      for (std::size_t f = 0; f < memory.size(); ++f)
        memory[f] = memory[f].packed_at(begin + begins[i] + layouts[i].offset(f));
      memories_.push_back(std::move(memory));
    }
  }
  /// Binds the user's memories to other addresses.
  void rebind(const rank_memories& memories) {
    std::copy(memories.begin(), memories.end(), memories_.begin());
  }
  [[nodiscard]] const rank_memories& memories() const noexcept { return memories_; }
  /// The number of elements of each memory.
  [[nodiscard]] std::span<const std::size_t> elements() const noexcept { return elements_; }
  /// Where the user's memories lie. Throws errc::usage (place_of).
  [[nodiscard]] field_place place() const {
    return place_of(ranks_, memories_, elements().first(user_memories_));
  }
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return buffer_bytes_; }

 private:
  team& ranks_;
  std::vector<std::size_t> elements_;
  shareable_memory buffer_;
  std::shared_ptr<std::byte> pinned_;  // instead of buffer_, for fields in device memory
  rank_memories memories_;
  std::size_t user_memories_;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace longshore::detail
