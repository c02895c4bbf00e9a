// tagged_batch: appends many items to a few buffers of a conveyor of several hops, without a check
// per item. Loops that push items and loops that relay items use it.
#pragma once

#include <longshore/aggregate/detail/porter.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace longshore::detail {

/// Every buffer has room for all items of a batch, so no item needs a check. One register counts
/// the items of all buffers, so an item depends on the item before it by one addition only, not by
/// a store and a load.
class tagged_batch {
 public:
  static constexpr std::size_t max_buffers = 8;
  static constexpr std::size_t max_items = (std::size_t{1} << 8) - 1;
  static constexpr std::size_t min_items = 32;  // smaller batches are slower

  /// The size of the next batch, at most `wanted`, or 0 if the batch would be too small. open(link)
  /// opens buffers[link], the buffer of a link, and returns false if no slot is free.
  template <class Open>
  [[nodiscard]] static std::size_t size(std::span<const tagged_buffer> buffers,
                                        std::size_t item_bytes, std::size_t wanted, Open&& open) {
    if (buffers.size() > max_buffers) return 0;
    std::size_t items = smaller(wanted, max_items);
    for (std::size_t link = 0; link < buffers.size() && items >= min_items; ++link) {
      const tagged_buffer& to = buffers[link];
      if (to.next == to.end && !open(link)) return 0;
      items = smaller(items, static_cast<std::size_t>(to.end - to.next) / item_bytes);
    }
    return items < min_items ? 0 : items;
  }

  /// The buffers must not change until commit().
  explicit tagged_batch(const tagged_buffer* buffers) noexcept : buffers_(buffers) {}

  /// Writes the tag of the next item of buffers[link], and returns the address for the item.
  [[nodiscard]] std::byte* take(std::uint32_t link, std::uint32_t tag,
                                std::size_t item_bytes) noexcept {
    const tagged_buffer& to = buffers_[link];
    std::byte *const next = to.next, *const next_tag = to.next_tag;
    const std::size_t count = taken(link), tag_bytes = to.tag_bytes;
    counts_ += std::uint64_t{1} << (bits * link);
    std::memcpy(next_tag + count * tag_bytes, &tag, sizeof tag);
    return next + count * item_bytes;
  }
  [[nodiscard]] std::size_t taken(std::size_t link) const noexcept {
    return (counts_ >> (bits * link)) & max_items;
  }

  /// Moves the ends of the buffers behind the items, and then calls filled(link) for each buffer
  /// that is full.
  template <class Filled>
  void commit(std::span<tagged_buffer> buffers, std::size_t item_bytes, Filled&& filled) const {
    for (std::size_t link = 0; link < buffers.size(); ++link) {
      tagged_buffer& to = buffers[link];
      const std::size_t count = taken(link);
      to.next += count * item_bytes;
      to.next_tag += count * to.tag_bytes;
      if (count > 0 && to.next == to.end) filled(link);
    }
  }

 private:
  static constexpr unsigned bits = 8;

  const tagged_buffer* buffers_;
  std::uint64_t counts_ = 0;  // 8 bits per buffer
};

}  // namespace longshore::detail
