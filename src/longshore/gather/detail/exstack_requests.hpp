// scatter and updates by strategy exstack: rounds of requests to the owners of elements. Each owner
// changes its own part, so no atomics are needed.
#pragma once

#include <longshore/aggregate/recent_items.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/exstack_filler.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/exchange_stats.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// The bytes before the items of a message: the header, padded so that offsets stay aligned.
template <class Head>
inline constexpr std::size_t header_bytes = std::is_empty_v<Head>
                                                ? 0
                                                : round_up(sizeof(Head), sizeof(std::uint64_t));

/// Applies all requests of a message. `prefetch`: this rank's part is not in the cache. Not
/// inlined, so that all distributions share one copy; it is called once per message.
template <class Offset, class Request>
[[gnu::noinline]] void apply_arrived(std::span<const std::byte> message, Request request,
                                     bool prefetch) {
  using item = typename Request::template item<Offset>;
  using header = typename Request::header;
  constexpr std::size_t fetch_ahead = 24;  // items
  header theirs{};
  if constexpr (header_bytes<header> != 0) std::memcpy(&theirs, message.data(), sizeof(header));
  const auto* const items = reinterpret_cast<const item*>(message.data() + header_bytes<header>);
  const std::size_t count = (message.size() - header_bytes<header>) / sizeof(item);
  std::size_t k = 0;
  if (prefetch)
    for (; k + fetch_ahead < count; ++k) {
      __builtin_prefetch(request.address_of(items[k + fetch_ahead]), 1);
      request.apply(theirs, items[k]);
    }
  for (; k < count; ++k) request.apply(theirs, items[k]);
}

/// The buffers for requests to one table, made once and used often. Cost of n requests per rank,
/// evenly spread over P ranks, with buffers of b items: about n / (P b) rounds of P messages of up
/// to b items. An item has an offset of 4 bytes (8 if a part has 2^32 elements or more) and a
/// value of sizeof(T); an update by a constant sends offsets alone. Memory per rank: 2 P b (4 +
/// sizeof(T)) bytes, twice that for other nodes; `combine` adds 4 P b bytes.
template <trivially_copyable T, distribution Distribution>
class exstack_requests {
 public:
  /// Collective. `values_travel`: whether run() may be called with request types that have values.
  /// REQUIRES: buffer_items > 0, the same on all ranks.
  exstack_requests(const table_view<T, Distribution>& table, std::size_t buffer_items,
                   bool values_travel, bool combine)
      : table_(table),
        buffer_items_(buffer_items),
        stack_(table.team(), header_bytes<T> + buffer_items * (offset_bytes(table.map()) +
                                                               (values_travel ? sizeof(T) : 0))),
        filler_(stack_, table.team().size(), buffer_items) {
    if (combine) recent_.emplace(table.team().size(), buffer_items);
  }

  /// Collective. Sends a request for each index to the owner of the element, and applies the
  /// requests of all ranks to this rank's part; on return all were applied. `operation` is for
  /// error messages. Throws errc::usage for an index out of range, and errc::peer_failed on the
  /// other ranks; the object can be used again after both.
  template <class Request>
  void run(const char* operation, std::span<const std::int64_t> indices, const Request& request) {
    with_offsets(table_.map(), [&](auto offset, auto locate) {
      run_with<decltype(offset)>(operation, locate, indices, request);
    });
  }

  /// Collective with run() of the other ranks: tells them that this rank failed.
  void fail_use() { stack_.exchange(progress::failed); }

  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  [[nodiscard]] const exchange_stats& stats() const noexcept { return stats_; }

 private:
  template <class Offset, class Request, class Locate>
  void run_with(const char* operation, Locate locate, std::span<const std::int64_t> indices,
                const Request& request) {
    exstack_access::count_in(stack_, stats_.requests,
                             {.item_bytes = sizeof(typename Request::template item<Offset>),
                              .capacity_items = buffer_items_,
                              .header_bytes = header_bytes<typename Request::header>});
    std::size_t sent = 0;
    progress all = progress::more;
    while (all == progress::more) {
      write_headers(request);
      sent = fill_requests<Offset>(locate, indices, sent, request);
      if (sent == fill_failed) {
        fail_use();
        throw_index_error(operation, indices, table_.size(), table_.team().rank());
      }
      all = stack_.exchange(sent == indices.size() ? progress::done : progress::more);
      if (all == progress::failed)
        throw_peer_failed(operation, table_.team(), stack_.failed_rank());
      for (int peer = 0; peer < table_.team().size(); ++peer)
        apply_arrived<Offset>(stack_.arrived<std::byte>(peer), request,
                              table_.local().size_bytes() > cached_part_bytes);
    }
  }

  template <class Request>
  void write_headers(const Request& request) {
    using header = typename Request::header;
    if constexpr (header_bytes<header> != 0) {
      const header mine = request.own_header();
      for (int peer = 0; peer < table_.team().size(); ++peer) {
        auto& to = exstack_access::buffers(stack_)[peer];
        std::memcpy(to.next, &mine, sizeof(header));
        to.next += header_bytes<header>;
      }
    }
  }

  template <class Offset, class Request, class Locate>
  std::size_t fill_requests(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                            const Request& request) {
    using item = typename Request::template item<Offset>;
    if constexpr (requires(item & earlier) { request.merge(earlier, earlier); })
      if (recent_) return fill_requests_combined<Offset>(locate, indices, first, request);
    return filler_.template fill<item, Offset>(
        locate, indices, first, table_.size(),
        [&request](auto& cursors, std::size_t i, const location& at) {
          *cursors.take(at.rank) =
              request.template make_item<Offset>(i, static_cast<Offset>(at.offset));
        });
  }

  // The same, but merges requests for one element while they wait.
  template <class Offset, class Request, class Locate>
  std::size_t fill_requests_combined(Locate locate, std::span<const std::int64_t> indices,
                                     std::size_t first, const Request& request) {
    using item = typename Request::template item<Offset>;
    const exstack_access::send_buffer* const buffers = exstack_access::buffers(stack_);
    return filler_.template fill<item, Offset>(
        locate, indices, first, table_.size(),
        [&](auto& cursors, std::size_t i, const location& at) {
          item* const begin = reinterpret_cast<item*>(buffers[at.rank].next);
          item* const end = reinterpret_cast<item*>(cursors.next(at.rank));
          std::uint32_t& guess = recent_->guess(at.rank, at.offset);
          item* const earlier = begin + guess;
          if (earlier < end && earlier->offset() == at.offset) {
            request.merge(*earlier,
                          request.template make_item<Offset>(i, static_cast<Offset>(at.offset)));
            return;
          }
          guess = static_cast<std::uint32_t>(end - begin);
          *cursors.take(at.rank) =
              request.template make_item<Offset>(i, static_cast<Offset>(at.offset));
        });
  }

  const table_view<T, Distribution>& table_;
  std::size_t buffer_items_;
  exstack stack_;
  exstack_filler filler_;
  exchange_stats stats_;
  std::optional<recent_items> recent_;
};

}  // namespace longshore::detail
