// Relaying: a conveyor copies the items that arrived on one hop into the buffers of the next hop.
#include <longshore/aggregate/conveyor.hpp>

#include <algorithm>
#include <type_traits>

namespace longshore {

using detail::peer_inbox;
using detail::tagged_batch;
using detail::tagged_buffer;

namespace {

// Calls body(size). `size` is an integral_constant with the value `item_bytes` if that is a common
// size, else 0. So copy loops know common sizes when they are compiled.
template <class Body>
void with_item_size(std::size_t item_bytes, const Body& body) {
  switch (item_bytes) {
    case 4: return body(std::integral_constant<std::size_t, 4>{});
    case 8: return body(std::integral_constant<std::size_t, 8>{});
    case 12: return body(std::integral_constant<std::size_t, 12>{});
    case 16: return body(std::integral_constant<std::size_t, 16>{});
    case 24: return body(std::integral_constant<std::size_t, 24>{});
    case 32: return body(std::integral_constant<std::size_t, 32>{});
    default: return body(std::integral_constant<std::size_t, 0>{});
  }
}

}  // namespace

void conveyor::relay() {
  for (std::size_t from = 0; from + 1 < hops_.size(); ++from) {
    detail::porter& in = *hops_[from].porter;
    const hop_state& out = hops_[from + 1];
    const auto is_full = [&](std::uint32_t link) {
      const tagged_buffer& to = buffers_[out.first_link + link];
      return to.next == to.end && !out.porter->open(link);
    };
    std::size_t polls = std::min(in.peer_count(), max_polls);
    while (peer_inbox* const inbox = in.poll_next(polls, is_full)) {
      with_item_size(options_.item_bytes, [&](auto size) { relay_items<size>(from, *inbox); });
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
  const tag_converter convert = tags_after(from, inbox);
  while (inbox.next < inbox.count)
    if (relay_batch<ItemBytes>(from, inbox, convert) == 0 &&
        !relay_checked<ItemBytes>(from, inbox, convert, tagged_batch::min_items))
      return;
}

// Relays items without a check per item, and returns their number: 0 if a batch does not pay.
template <std::size_t ItemBytes>
std::uint32_t conveyor::relay_batch(std::size_t from, peer_inbox& inbox,
                                    const tag_converter& convert_tag) {
  const hop_state& in = hops_[from];
  const hop_state& out = hops_[from + 1];
  const std::size_t item_bytes = ItemBytes == 0 ? options_.item_bytes : ItemBytes,
                    tag_bytes = in.porter->format().tag_bytes,
                    links =
                        (from + 2 < hops_.size() ? hops_[from + 2].first_link : buffers_.size()) -
                        out.first_link;
  const std::span<tagged_buffer> buffers = std::span(buffers_).subspan(out.first_link, links);
  const std::uint32_t first = inbox.next, timed_item = inbox.timed.position;
  // The timed item is the last of its batch, so that it is the last of its buffer when its time is
  // recorded.
  const bool has_timed_item = timed_item < inbox.count && timed_item >= first;
  const auto count = static_cast<std::uint32_t>(tagged_batch::size(
      buffers, item_bytes, (has_timed_item ? timed_item + 1 : inbox.count) - first,
      [&out](std::size_t link) { return out.porter->open(link); }));
  if (count == 0) return 0;
  const tag_converter convert = convert_tag;
  const std::uint32_t link_mask = convert.destination_mask & convert.link_mask;
  const std::byte* const items = inbox.items;
  tagged_batch batch(buffers.data());
  for (std::uint32_t k = first; k < first + count; ++k) {
    const std::uint32_t tag = tag_at(in, inbox, k, tag_bytes);
    std::byte* const to = batch.take(tag & link_mask, convert(tag), item_bytes);
    std::memcpy(to, items + k * item_bytes, item_bytes);
  }
  inbox.next = first + count;
  const bool timed = has_timed_item && inbox.next == timed_item + 1;
  const std::uint32_t timed_link = timed ? tag_at(in, inbox, timed_item, tag_bytes) & link_mask : 0;
  batch.commit(buffers, item_bytes, [&](std::size_t link) {
    if (timed && link == timed_link) out.porter->set_push_time(link, inbox.timed.seconds);
    out.porter->filled(link);
  });
  // If the buffer was filled, its time was recorded above, and the buffer is gone.
  if (timed && buffers[timed_link].next != buffers[timed_link].end)
    out.porter->set_push_time(timed_link, inbox.timed.seconds);
  return count;
}

// Relays at most `max_items` items. Returns false if a buffer is full and cannot be sent.
template <std::size_t ItemBytes>
bool conveyor::relay_checked(std::size_t from, peer_inbox& inbox, const tag_converter& convert_tag,
                             std::uint32_t max_items) {
  const hop_state& in = hops_[from];
  const hop_state& out = hops_[from + 1];
  const tag_converter convert = convert_tag;
  const std::size_t item_bytes = ItemBytes == 0 ? options_.item_bytes : ItemBytes,
                    tag_bytes = in.porter->format().tag_bytes;
  tagged_buffer* const buffers = buffers_.data() + out.first_link;
  const std::byte* const items = inbox.items;
  const std::uint32_t timed_item = inbox.timed.position,
                      end_item = inbox.next + std::min(max_items, inbox.count - inbox.next);
  std::uint32_t k = inbox.next;
  for (; k < end_item; ++k) {
    const std::uint32_t tag = tag_at(in, inbox, k, tag_bytes);
    const std::uint32_t link = tag & convert.destination_mask & convert.link_mask;
    tagged_buffer& to = buffers[link];
    if (to.next == to.end && !out.porter->open(link)) {
      in.porter->wait_for(inbox, link);
      break;
    }
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
  return k == end_item;
}

}  // namespace longshore
