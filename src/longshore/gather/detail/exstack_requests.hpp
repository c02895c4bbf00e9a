// scatter and updates by strategy exstack: rounds of requests to the owners of elements. Only the
// owner changes an element, so no atomic operations are needed.
#pragma once

#include <longshore/gather/detail/exstack_rounds.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// The size of a header in a message, padded so that the offsets behind the header are aligned.
template <class Header>
inline constexpr std::size_t header_bytes = std::is_empty_v<Header>
                                                ? 0
                                                : round_up(sizeof(Header), sizeof(std::uint64_t));

/// Whether a request type has merge(), which combines two requests.
template <class Request, class Item>
concept can_merge = requires(const Request& request, Item& item) {
  request.merge(item, item);
};

/// Applies all requests of a message. `prefetch`: whether to prefetch elements, because this rank's
/// part does not stay in a cache. Not inlined, so that all distributions share one compiled copy.
template <class Offset, class Request>
[[gnu::noinline]] void apply_arrived(std::span<const std::byte> message, Request request,
                                     bool prefetch) {
  using item = typename Request::template item<Offset>;
  using header = typename Request::header;
  constexpr std::size_t fetch_ahead = 24;  // items
  header arrived_header{};
  if constexpr (header_bytes<header> != 0)
    std::memcpy(&arrived_header, message.data(), sizeof(header));
  const auto* const items = reinterpret_cast<const item*>(message.data() + header_bytes<header>);
  const std::size_t count = (message.size() - header_bytes<header>) / sizeof(item);
  std::size_t k = 0;
  if (prefetch)
    for (; k + fetch_ahead < count; ++k) {
      __builtin_prefetch(request.address_of(items[k + fetch_ahead]), 1);
      request.apply(arrived_header, items[k]);
    }
  for (; k < count; ++k) request.apply(arrived_header, items[k]);
}

/// The buffers for requests to one table. Cost of n requests per rank, evenly spread over P ranks,
/// with buffers of b items: about n / (P b) rounds, in which a rank sends P messages of up to b
/// items. An item has an offset of 4 bytes (8 if a part has 2^32 elements or more) and a value of
/// sizeof(T) bytes; in updates by a constant, an item is an offset. Memory per rank: 2 P b (4 +
/// sizeof(T)) bytes, twice that for ranks on other nodes; `combine` adds 4 P b bytes.
template <trivially_copyable T, distribution Distribution>
class exstack_requests : public exstack_rounds {
 public:
  /// Collective. REQUIRES: buffer_items > 0, the same on all ranks.
  exstack_requests(const table_view<T, Distribution>& table, std::size_t buffer_items, bool combine)
      : exstack_rounds(table.team(), buffer_items,
                       header_bytes<T> + buffer_items * (offset_bytes(table.map()) + sizeof(T)),
                       combine),
        table_(table) {}

  /// Collective. Sends a request for each index to the owner of the element, and applies the
  /// requests of all ranks to this rank's part. `operation` is for error messages.
  template <class Request>
  void run(const char* operation, std::span<const std::int64_t> indices, const Request& request) {
    with_offsets(table_.map(), [&](auto offset, auto locate) {
      run_with<decltype(offset)>(operation, locate, indices, request);
    });
  }

 private:
  template <class Offset, class Request, class Locate>
  void run_with(const char* operation, Locate locate, std::span<const std::int64_t> indices,
                const Request& request) {
    stack_.count_exchanges_in(stats_.requests,
                              {.item_bytes = sizeof(typename Request::template item<Offset>),
                               .capacity_items = buffer_items_,
                               .header_bytes = header_bytes<typename Request::header>});
    std::size_t sent = 0;
    rounds_ = 0;
    for (progress of_all = progress::more; of_all == progress::more;) {
      write_headers(request);
      sent = fill_requests<Offset>(locate, indices, sent, request);
      of_all = exchange_requests(operation, indices, table_.size(), sent);
      const bool prefetch = table_.local().size_bytes() > cached_part_bytes;
      for (int peer = 0; peer < ranks_; ++peer)
        apply_arrived<Offset>(stack_.arrived<std::byte>(peer), request, prefetch);
    }
  }

  template <class Request>
  void write_headers(const Request& request) {
    using header = typename Request::header;
    if constexpr (header_bytes<header> != 0) {
      const header sent_header = request.header_of_rank();
      for (int peer = 0; peer < table_.team().size(); ++peer) {
        auto& buffer = stack_.buffers()[peer];
        std::memcpy(buffer.next, &sent_header, sizeof(header));
        buffer.next += header_bytes<header>;
      }
    }
  }

  template <class Offset, class Request, class Locate>
  std::size_t fill_requests(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                            const Request& request) {
    using item = typename Request::template item<Offset>;
    if constexpr (can_merge<Request, item>)
      if (recent_) return fill_requests_combined<Offset>(locate, indices, first, request);
    return fill<item, Offset>(locate, indices, first, table_.size(),
                              [&request](auto& cursors, std::size_t i, const location& at) {
                                *cursors.take(at.rank) = request.template make_item<Offset>(
                                    i, static_cast<Offset>(at.offset));
                              });
  }

  // Like fill_requests(), but merges a request into an earlier request for the same element, if
  // recent_ finds such a request and it still waits in the buffer.
  template <class Offset, class Request, class Locate>
  std::size_t fill_requests_combined(Locate locate, std::span<const std::int64_t> indices,
                                     std::size_t first, const Request& request) {
    using item = typename Request::template item<Offset>;
    const exstack::send_buffer* const buffers = stack_.buffers();
    return fill<item, Offset>(locate, indices, first, table_.size(),
                              [&](auto& cursors, std::size_t i, const location& at) {
                                item* const begin = reinterpret_cast<item*>(buffers[at.rank].next);
                                item* const end = reinterpret_cast<item*>(cursors.next(at.rank));
                                std::uint32_t& guess = recent_->guess(at.rank, at.offset);
                                item* const earlier = begin + guess;
                                const item later = request.template make_item<Offset>(
                                    i, static_cast<Offset>(at.offset));
                                if (earlier < end && earlier->offset() == at.offset) {
                                  request.merge(*earlier, later);
                                  return;
                                }
                                guess = static_cast<std::uint32_t>(end - begin);
                                *cursors.take(at.rank) = later;
                              });
  }

  const table_view<T, Distribution>& table_;
};

}  // namespace longshore::detail
