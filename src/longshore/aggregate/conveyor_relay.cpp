// Forwarding: copies the items that arrived on one hop of a conveyor into the buffers of the next.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/detail/item_size.hpp>

namespace longshore {

using detail::incoming_message;
using detail::tagged_buffer;

void conveyor::relay() {
  for (std::size_t from = 0; from + 1 < hops_.size(); ++from) {
    detail::porter& in = *hops_[from].porter;
    for (std::size_t polls = std::min(in.peer_count(), max_polls); polls > 0; --polls) {
      incoming_message* const s = in.poll(in.next_turn());
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

// How tags on the next hop follow from tags on this hop: the remaining links, and the source in the
// encoding of the next hop.
conveyor::tag_converter conveyor::tags_after(std::size_t from, const incoming_message& s) const {
  const hop& in = hops_[from];
  const hop& out = hops_[from + 1];
  tag_converter convert{
      .link_mask = static_cast<std::uint32_t>((std::uint64_t{1} << out.link_bits) - 1),
      .destination_mask = static_cast<std::uint32_t>((std::uint64_t{1} << in.destination_bits) - 1),
      .link_bits = out.link_bits,
      .in_source_shift = in.destination_bits,
      .out_source_shift = out.destination_bits};
  if (options_.with_source && from == 0)
    convert.fixed =
        static_cast<std::uint32_t>(std::uint64_t(groups_.place_of(s.peer)) << out.destination_bits);
  if (options_.with_source && from == 1)
    convert.sources = groups_.members(groups_.group_of(s.peer)).data();
  return convert;
}

template <std::size_t ItemBytes>
void conveyor::relay_items(std::size_t from, incoming_message& s) {
  const hop& in = hops_[from];
  const hop& out = hops_[from + 1];
  const tag_converter convert = tags_after(from, s);
  const std::size_t item_bytes = ItemBytes == 0 ? options_.item_bytes : ItemBytes,
                    width = in.porter->format().tag_bytes;
  detail::tagged_buffer* const buffers = buffers_.data() + out.first_link;
  const std::byte* const items = s.items;
  const std::uint32_t count = s.count, timed = s.timed.position;
  std::uint32_t k = s.next;
  for (; k < count; ++k) {
    const std::uint32_t tag = tag_at(in, s, k, width);
    const std::uint32_t i = tag & convert.destination_mask & convert.link_mask;
    detail::tagged_buffer& to = buffers[i];
    if (to.next == to.end && !out.porter->open(i)) break;
    const std::uint32_t out_tag = convert(tag);
    std::byte *const next = to.next, *const end = to.end, *const tag_place = to.next_tag;
    to.next = next + item_bytes;
    to.next_tag = tag_place + to.tag_bytes;
    std::memcpy(next, items + k * item_bytes, item_bytes);
    std::memcpy(tag_place, &out_tag, sizeof out_tag);
    if (k == timed) out.porter->set_push_time(i, s.timed.seconds);
    if (next + item_bytes == end) out.porter->filled(i);
  }
  s.next = k;
}

void conveyor::relay_pieces(std::size_t from, incoming_message& s) {
  const hop& out = hops_[from + 1];
  const tag_converter convert = tags_after(from, s);
  while (s.next < s.count) {
    const std::byte* const at = s.items + s.next * sizeof(piece_header);
    piece_header header;
    std::memcpy(&header, at, sizeof header);
    const std::size_t words =
        1 + ((header.length & ~more_pieces) + sizeof header - 1) / sizeof header;
    const std::uint32_t i = header.tag & convert.destination_mask & convert.link_mask;
    detail::tagged_buffer& to = buffers_[out.first_link + i];
    // A piece always fits an empty buffer: all hops have buffers of one size.
    if (to.next != to.end && static_cast<std::size_t>(to.end - to.next) < words * sizeof header)
      out.porter->send(i);
    if (to.next == to.end && !out.porter->open(i)) return;
    header.tag = convert(header.tag);
    std::memcpy(to.next, &header, sizeof header);
    std::memcpy(to.next + sizeof header, at + sizeof header, (words - 1) * sizeof header);
    to.next += words * sizeof header;
    s.next += static_cast<std::uint32_t>(words);
    if (to.next == to.end) out.porter->filled(i);
  }
}

}  // namespace longshore
