// Passing items on: what a conveyor received on one hop goes into the buffers of the next, item by
// item, where it lies.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/detail/item_size.hpp>

namespace longshore {

using detail::lane;
using detail::source;

void conveyor::relay() {
  for (std::size_t from = 0; from + 1 < hops_.size(); ++from) {
    detail::porter& in = *hops_[from].porter;
    for (std::size_t looks = std::min(in.source_count(), most_looks); looks > 0; --looks) {
      source* const s = in.look(in.take_turn());
      if (s == nullptr) continue;
      if (options_.elastic)
        relay_pieces(from, *s);
      else
        detail::with_item_size(options_.item_bytes,
                               [&](auto size) { relay_items<size>(from, *s); });
      if (s->next == s->count) in.release(*s);
    }
  }
}

// The tag of an item on the next hop: the rest of its way, and who pushed it as that hop says it.
conveyor::next_tag conveyor::tags_behind(std::size_t from, const source& s) const {
  const hop& in = hops_[from];
  const hop& out = hops_[from + 1];
  next_tag rule{
      .lane_mask = static_cast<std::uint32_t>((std::uint64_t{1} << out.lane_bits) - 1),
      .destination_mask = static_cast<std::uint32_t>((std::uint64_t{1} << in.destination_bits) - 1),
      .lane_bits = out.lane_bits,
      .in_source_shift = in.destination_bits,
      .out_source_shift = out.destination_bits};
  if (options_.with_source && from == 0)
    rule.fixed =
        static_cast<std::uint32_t>(std::uint64_t(groups_.place_of(s.peer)) << out.destination_bits);
  if (options_.with_source && from == 1)
    rule.sources = groups_.members(groups_.group_of(s.peer)).data();
  return rule;
}

template <std::size_t ItemBytes>
void conveyor::relay_items(std::size_t from, source& s) {
  const hop& in = hops_[from];
  const hop& out = hops_[from + 1];
  const next_tag rule = tags_behind(from, s);
  const std::size_t item_bytes = ItemBytes == 0 ? options_.item_bytes : ItemBytes,
                    width = in.porter->format().tag_bytes;
  detail::lane* const lanes = lanes_.data() + out.first_lane;
  const std::byte* const items = s.items;
  const std::uint32_t count = s.count, timed = s.timed.position;
  std::uint32_t k = s.next;
  for (; k < count; ++k) {
    const std::uint32_t tag = tag_at(in, s, k, width);
    const std::uint32_t i = tag & rule.destination_mask & rule.lane_mask;
    detail::lane& to = lanes[i];
    if (to.next == to.end && !out.porter->open(i)) break;
    const std::uint32_t behind = rule(tag);
    std::byte *const next = to.next, *const end = to.end, *const tag_place = to.next_tag;
    to.next = next + item_bytes;
    to.next_tag = tag_place + to.tag_bytes;
    std::memcpy(next, items + k * item_bytes, item_bytes);
    std::memcpy(tag_place, &behind, sizeof behind);
    if (k == timed) out.porter->carry_stamp(i, s.timed.seconds);
    if (next + item_bytes == end) out.porter->filled(i);
  }
  s.next = k;
}

void conveyor::relay_pieces(std::size_t from, source& s) {
  const hop& out = hops_[from + 1];
  const next_tag rule = tags_behind(from, s);
  while (s.next < s.count) {
    const std::byte* const at = s.items + s.next * sizeof(piece_header);
    piece_header header;
    std::memcpy(&header, at, sizeof header);
    const std::size_t words =
        1 + ((header.length & ~more_pieces) + sizeof header - 1) / sizeof header;
    const std::uint32_t i = header.tag & rule.destination_mask & rule.lane_mask;
    detail::lane& to = lanes_[out.first_lane + i];
    // A piece is never larger than a buffer, and all hops have buffers of one size.
    if (to.next != to.end && static_cast<std::size_t>(to.end - to.next) < words * sizeof header)
      out.porter->ship(i);
    if (to.next == to.end && !out.porter->open(i)) return;
    header.tag = rule(header.tag);
    std::memcpy(to.next, &header, sizeof header);
    std::memcpy(to.next + sizeof header, at + sizeof header, (words - 1) * sizeof header);
    to.next += words * sizeof header;
    s.next += static_cast<std::uint32_t>(words);
    if (to.next == to.end) out.porter->filled(i);
  }
}

}  // namespace longshore
