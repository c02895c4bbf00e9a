// Requests to the owners of elements in rounds over exstack: each owner does what it was asked to
// with its own part, so that nothing needs atomics. scatter and updates by strategy exstack.
#pragma once

#include <longshore/aggregate/recent_items.hpp>
#include <longshore/gather/detail/exstack_fill.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/gather/exchange_report.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// What precedes the items of a message. Heads are padded, so that offsets stay aligned.
template <class Head>
inline constexpr std::size_t head_bytes = std::is_empty_v<Head>
                                              ? 0
                                              : round_up(sizeof(Head), sizeof(std::uint64_t));

/// Does what a message of requests asks for; `far`: with a part that is worth fetching ahead from.
/// Compiled once for all distributions: not inlined, one call per message.
template <class Offset, class Request>
[[gnu::noinline]] void apply_arrived(std::span<const std::byte> message, Request request,
                                     bool far) {
  using item = typename Request::template item<Offset>;
  using head = typename Request::head;
  constexpr std::size_t fetch_ahead = 24;  // items
  head theirs{};
  if constexpr (head_bytes < head >> 0) std::memcpy(&theirs, message.data(), sizeof(head));
  const auto* const items = reinterpret_cast<const item*>(message.data() + head_bytes<head>);
  const std::size_t count = (message.size() - head_bytes<head>) / sizeof(item);
  std::size_t k = 0;
  if (far)
    for (; k + fetch_ahead < count; ++k) {
      __builtin_prefetch(request.target(items[k + fetch_ahead]), 1);
      request.apply(theirs, items[k]);
    }
  for (; k < count; ++k) request.apply(theirs, items[k]);
}

/// The buffers of one table's requests, kept between uses. Cost of n requests per rank, evenly
/// spread over P ranks with buffers of b items: some n / (P b) rounds of P messages of up to b
/// items: 4 bytes of offset (8 where a part has more than 2^32 elements) and sizeof(T), or offsets
/// alone when a constant is added. Memory per rank: 2 P b (4 + sizeof(T)), twice that towards other
/// nodes; `combine` adds 4 P b.
template <trivially_copyable T, distribution Distribution>
class exstack_requests {
 public:
  /// Collective. REQUIRES: buffer_items > 0, the same on all ranks. `values_travel`: whether items
  /// have values, else offsets only (then run() takes no request type with values).
  exstack_requests(const table_parts<T, Distribution>& table, std::size_t buffer_items,
                   bool values_travel, bool combine)
      : table_(table),
        buffer_items_(buffer_items),
        stack_(table.team(), head_bytes<T> + buffer_items * (offset_bytes(table.map()) +
                                                             (values_travel ? sizeof(T) : 0))),
        filler_(stack_, table.team().size(), buffer_items) {
    if (combine) recent_.emplace(table.team().size(), buffer_items);
  }

  /// Collective. Asks the owner of table[indices[i]] for request.make(i), and does what the others
  /// ask this rank. On return this rank's part is as all ranks want it. `operation` is for
  /// messages. Throws errc::usage for an index out of range, and errc::peer_failed on the other
  /// ranks; the object can be used again after both.
  template <class Request>
  void run(const char* operation, std::span<const std::int64_t> indices, const Request& request) {
    with_offsets(table_.map(), [&](auto offset, auto locate) {
      run_with<decltype(offset)>(operation, locate, indices, request);
    });
  }

  /// Collective with run() of the other ranks: tells them that this rank cannot take part.
  void refuse() { stack_.exchange(progress::failed); }

  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  [[nodiscard]] const exchange_report& report() const noexcept { return report_; }

 private:
  template <class Offset, class Request, class Locate>
  void run_with(const char* operation, Locate locate, std::span<const std::int64_t> indices,
                const Request& request) {
    stack_.count_in(report_.requests,
                    {.item_bytes = sizeof(typename Request::template item<Offset>),
                     .capacity_items = buffer_items_,
                     .head_bytes = head_bytes<typename Request::head>});
    std::size_t sent = 0;
    progress all = progress::more;
    while (all == progress::more) {
      write_heads(request);
      sent = ask<Offset>(locate, indices, sent, request);
      if (sent == fill_refused) {
        refuse();
        refuse_indices(operation, indices, table_.size(), table_.team().rank());
      }
      all = stack_.exchange(sent == indices.size() ? progress::done : progress::more);
      if (all == progress::failed)
        fail(errc::peer_failed,
             "{} on rank {} was given up: rank {} has indices or values that cannot be used",
             operation, table_.team().rank(), stack_.failed_rank());
      for (int peer = 0; peer < table_.team().size(); ++peer)
        apply_arrived<Offset>(stack_.arrived<std::byte>(peer), request,
                              table_.local().size_bytes() > near_bytes);
    }
  }

  template <class Request>
  void write_heads(const Request& request) {
    using head = typename Request::head;
    if constexpr (head_bytes < head >> 0) {
      const head mine = request.own_head();
      for (int peer = 0; peer < table_.team().size(); ++peer) {
        std::memcpy(stack_.lanes()[peer].next, &mine, sizeof(head));
        stack_.lanes()[peer].next += head_bytes<head>;
      }
    }
  }

  template <class Offset, class Request, class Locate>
  std::size_t ask(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                  const Request& request) {
    using item = typename Request::template item<Offset>;
    if constexpr (requires(item & earlier) { request.merge(earlier, earlier); })
      if (recent_) return ask_once<Offset>(locate, indices, first, request);
    return filler_.template fill<item, Offset>(
        locate, indices, first, table_.size(),
        [&request](auto& cursors, std::size_t i, const location& at) {
          *cursors.take(at.rank) = request.template make<Offset>(i, static_cast<Offset>(at.offset));
        });
  }

  // The same with requests for one element merged while they wait.
  template <class Offset, class Request, class Locate>
  std::size_t ask_once(Locate locate, std::span<const std::int64_t> indices, std::size_t first,
                       const Request& request) {
    using item = typename Request::template item<Offset>;
    const exstack::lane* const lanes = stack_.lanes();
    return filler_.template fill<item, Offset>(
        locate, indices, first, table_.size(),
        [&](auto& cursors, std::size_t i, const location& at) {
          item* const begin = reinterpret_cast<item*>(lanes[at.rank].next);
          item* const end = reinterpret_cast<item*>(cursors.next(at.rank));
          std::uint32_t& guess = recent_->guess(at.rank, at.offset);
          item* const earlier = begin + guess;
          if (earlier < end && earlier->offset() == at.offset) {
            request.merge(*earlier,
                          request.template make<Offset>(i, static_cast<Offset>(at.offset)));
            return;
          }
          guess = static_cast<std::uint32_t>(end - begin);
          *cursors.take(at.rank) = request.template make<Offset>(i, static_cast<Offset>(at.offset));
        });
  }

  const table_parts<T, Distribution>& table_;
  std::size_t buffer_items_;
  exstack stack_;
  exstack_filler filler_;
  exchange_report report_;
  std::optional<recent_items> recent_;
};

}  // namespace longshore::detail
