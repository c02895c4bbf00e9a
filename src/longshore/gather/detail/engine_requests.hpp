// scatter and updates by strategies exstack2, conveyor and aggregator: requests to the owners of
// elements over an asynchronous engine. Each owner changes its own part, so no atomics are needed.
#pragma once

#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/gather/detail/checked_indices.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/exchange_stats.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

// The function objects of owners, shared by all distributions.

/// Applies a request that arrived.
template <class Request, class Item>
struct apply_request {
  Request request;
  typename Request::header header;  // the same on all ranks
  void operator()(int, const Item& arrived) const { request.apply(header, arrived); }
};
/// Merges requests for one element; see combining.
template <class Request>
struct merge_requests {
  const Request& request;
  [[nodiscard]] std::uint64_t place(const auto& one) const { return one.offset(); }
  template <class Item>
  void combine(Item& into, const Item& more) const {
    request.merge(into, more);
  }
};

/// The engine of one table's requests, and a second one for updates by a constant, whose value need
/// not travel. Made once, used often. Cost: see conveyor, for items of an offset of 4 bytes (8 if a
/// part has 2^32 elements or more) and a value of sizeof(T), or of offsets alone. See also
/// combining.
template <trivially_copyable T, distribution Distribution>
class engine_requests {
 public:
  /// Collective. `constants`: whether run() will also be called with requests without values. These
  /// are never combined.
  engine_requests(const table_view<T, Distribution>& table, gather_strategy strategy,
                  const gather_options& given, bool constants)
      : table_(table) {
    engine_options options = engine_options_for(table.team(), strategy, given);
    options.slots = request_slots;
    options.item_bytes = offset_bytes(table.map()) + sizeof(T);
    with_values_ = std::make_unique<conveyor>(table.team(), options);
    options.item_bytes = offset_bytes(table.map());
    if (given.combine) recent_.emplace(recent_items_for(*with_values_));
    if (constants) offsets_ = std::make_unique<conveyor>(table.team(), options);
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

  /// Collective. Whether all ranks pass the same constant; then offsets alone need to travel.
  [[nodiscard]] bool is_common(const T& amount) {
    // The minimum over the ranks of each word and of its complement. If both minima equal the word
    // and the complement of this rank, all ranks have this
    // word.
    constexpr std::size_t words = (sizeof(T) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
    std::array<std::int64_t, 2 * words> mine{};
    std::memcpy(mine.data(), &amount, sizeof(T));
    for (std::size_t w = 0; w < words; ++w) mine[words + w] = ~mine[w];
    auto least = mine;
    table_.team().allreduce(least, reduction::min);
    // All ranks get the same answer: it says whether minimum and maximum are equal.
    return least == mine;
  }

  /// Collective with run() of the other ranks: tells them that this rank failed. Their requests to
  /// this rank are not applied.
  void fail_use() {
    const auto run_failing = [this]<class Offset>(Offset) {
      using item = offset_and_value<Offset, T>;
      static_cast<void>(try_deliver<item>(
          *with_values_, 1, [](std::size_t) -> addressed<item> { throw invalid_request{}; },
          [](int, const item&) {}));
    };
    try {
      with_offsets(table_.map(), [&](auto offset, auto) { run_failing(offset); });
    } catch (const invalid_request&) {  // all others know of it now
    }
  }

  [[nodiscard]] traffic sent() const {
    traffic all = with_values_->sent();
    if (offsets_) all += offsets_->sent();
    return all;
  }
  [[nodiscard]] exchange_stats stats() const {
    exchange_stats all{.requests = with_values_->stats()};
    if (offsets_) all.requests += offsets_->stats();
    return all;
  }

 private:
  template <class Offset, class Locate, class Request>
  void run_with(const char* operation, Locate locate, std::span<const std::int64_t> indices,
                const Request& request) {
    checked_indices checked(operation, indices, table_.size(), table_.team().rank());
    const auto item_of = [&checked, locate, request](std::size_t i) {
      const location at = locate(checked[i]);
      return addressed<typename Request::template item<Offset>>{
          at.rank, request.template make_item<Offset>(i, static_cast<Offset>(at.offset))};
    };
    using item = typename Request::template item<Offset>;
    using header = typename Request::header;
    const apply_request<Request, item> apply{request, request.own_header()};
    const auto deliver_over = [&](auto& engine) {
      return try_deliver<item>(engine, indices.size(), item_of, apply);
    };
    const auto run = [&] {
      if constexpr (!std::is_empty_v<header>) {
        return deliver_over(*offsets_);
      } else {
        if (!recent_) return deliver_over(*with_values_);
        combining<conveyor, item, merge_requests<Request>> combined(*with_values_, *recent_,
                                                                    {request});
        return deliver_over(combined);
      }
    };
    const int failed_rank = run();
    if (failed_rank >= 0) throw_peer_failed(operation, table_.team(), failed_rank);
  }

  const table_view<T, Distribution>& table_;
  std::unique_ptr<conveyor> with_values_, offsets_;
  std::optional<recent_items> recent_;  // if requests combine
};

}  // namespace longshore::detail
