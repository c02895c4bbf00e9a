// Relaying: a conveyor copies the items that arrived on one hop into the buffers of the next hop.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/aggregate/detail/item_size.hpp>

namespace longshore {

using detail::peer_inbox;
using detail::tagged_buffer;

void conveyor::relay() {
  for (std::size_t from = 0; from + 1 < hops_.size(); ++from) {
    detail::porter& in = *hops_[from].porter;
    for (std::size_t polls = std::min(in.peer_count(), max_polls); polls > 0; --polls) {
      peer_inbox* const inbox = in.poll(in.next_peer());
      if (inbox == nullptr) continue;
      if (options_.elastic)
        relay_pieces(from, *inbox);
      else
        detail::with_item_size(options_.item_bytes,
                               [&](auto size) { relay_items<size>(from, *inbox); });
      if (inbox->next == inbox->count) in.release(*inbox);
    }
  }
}

conveyor::tag_converter conveyor::tags_after(std::size_t from, const peer_inbox& inbox) const {
  const hop_state& in = hops_[from];
  const hop_state& out = hops_[from + 1];
  tag_converter convert{
      .link_mask = static_cast<std::uint32_t>((std::uint64_t{1} << out.link_bits) - 1),
      .destination_mask = static_cast<std::uint32_t>((std::uint64_t{1} << in.destination_bits) - 1),
      .link_bits = out.link_bits,
      .in_source_shift = in.destination_bits,
      .out_source_shift = out.destination_bits};
  if (options_.with_source && from == 0)
    convert.common_source_bits = static_cast<std::uint32_t>(
        std::uint64_t(groups_.position_of(inbox.peer)) << out.destination_bits);
  if (options_.with_source && from == 1)
    convert.sources = groups_.members(groups_.group_of(inbox.peer)).data();
  return convert;
}

template <std::size_t ItemBytes>
void conveyor::relay_items(std::size_t from, peer_inbox& inbox) {
  const hop_state& in = hops_[from];
  const hop_state& out = hops_[from + 1];
  const tag_converter convert = tags_after(from, inbox);
  const std::size_t item_bytes = ItemBytes == 0 ? options_.item_bytes : ItemBytes,
                    tag_bytes = in.porter->format().tag_bytes;
  tagged_buffer* const buffers = buffers_.data() + out.first_link;
  const std::byte* const items = inbox.items;
  const std::uint32_t count = inbox.count, timed_item = inbox.timed.position;
  std::uint32_t k = inbox.next;
  for (; k < count; ++k) {
    const std::uint32_t tag = tag_at(in, inbox, k, tag_bytes);
    const std::uint32_t link = tag & convert.destination_mask & convert.link_mask;
    tagged_buffer& to = buffers[link];
    if (to.next == to.end && !out.porter->open(link)) break;
    const std::uint32_t out_tag = convert(tag);
    std::byte *const next = to.next, *const end = to.end, *const next_tag = to.next_tag;
    to.next = next + item_bytes;
    to.next_tag = next_tag + to.tag_bytes;
    std::memcpy(next, items + k * item_bytes, item_bytes);
    std::memcpy(next_tag, &out_tag, sizeof out_tag);
    if (k == timed_item) out.porter->set_push_time(link, inbox.timed.seconds);
    if (next + item_bytes == end) out.porter->filled(link);
  }
  inbox.next = k;
}

void conveyor::relay_pieces(std::size_t from, peer_inbox& inbox) {
  const hop_state& out = hops_[from + 1];
  const tag_converter convert = tags_after(from, inbox);
  while (inbox.next < inbox.count) {
    const std::byte* const piece = inbox.items + inbox.next * sizeof(piece_header);
    piece_header header;
    std::memcpy(&header, piece, sizeof header);
    const std::size_t words =
        1 + ((header.length & ~more_pieces) + sizeof header - 1) / sizeof header;
    const std::uint32_t link = header.tag & convert.destination_mask & convert.link_mask;
    tagged_buffer& to = buffers_[out.first_link + link];
    // A piece fits an empty buffer, since buffers of all hops have the same size.
    if (to.next != to.end && static_cast<std::size_t>(to.end - to.next) < words * sizeof header)
      out.porter->send(link);
    if (to.next == to.end && !out.porter->open(link)) return;
    header.tag = convert(header.tag);
    std::memcpy(to.next, &header, sizeof header);
    std::memcpy(to.next + sizeof header, piece + sizeof header, (words - 1) * sizeof header);
    to.next += words * sizeof header;
    inbox.next += static_cast<std::uint32_t>(words);
    if (to.next == to.end) out.porter->filled(link);
  }
}

}  // namespace longshore
