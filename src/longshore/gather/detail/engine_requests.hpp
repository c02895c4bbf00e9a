// scatter and updates by strategies exstack2, conveyor and aggregator: requests to the owners of
// elements over an asynchronous engine. Only the owner changes an element, so no atomic operations
// are needed.
#pragma once

#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

// These function objects do not depend on the distribution, so the loops that call them are
// compiled once for all distributions.

/// Applies a request on the owner of the element.
template <class Request, class Item>
struct apply_request {
  Request request;
  typename Request::header header;  // the same on all ranks
  void operator()(int, const Item& arrived) const { request.apply(header, arrived); }
};
/// Merges requests for one element, for class combining.
template <class Request>
struct merge_requests {
  const Request& request;
  [[nodiscard]] std::uint64_t key(const auto& item) const { return item.offset(); }
  template <class Item>
  void combine(Item& earlier, const Item& later) const {
    request.merge(earlier, later);
  }
};

/// The engine for requests to one table, and a second engine for updates by a constant. Cost: that
/// of a conveyor. An item has an offset of 4 bytes (8 if a part has 2^32 elements or more) and a
/// value of sizeof(T) bytes. In updates by a constant, an item is an offset alone. Option combine
/// adds the cost of class combining.
///
/// `HasConstantRequests`: whether run() may also be called with requests without values. Such
/// requests cannot be combined.
template <trivially_copyable T, distribution Distribution, bool HasConstantRequests>
class engine_requests {
 public:
  /// Collective.
  engine_requests(const table_view<T, Distribution>& table, const gather_options& given)
      : table_(table) {
    engine_options options = engine_options_for(table.team(), given);
    options.slots = larger(options.slots, request_slots);
    options.item_bytes = offset_bytes(table.map()) + sizeof(T);
    value_engine_ = std::make_unique<conveyor>(table.team(), options);
    options.item_bytes = offset_bytes(table.map());
    if (given.combine)
      recent_.emplace(recent_items_for(*value_engine_));
    else if (HasConstantRequests)
      offset_engine_ = std::make_unique<conveyor>(table.team(), options);
  }

  /// Collective. Sends a request for each index to the owner of the element, and applies the
  /// requests of all ranks to this rank's part. `operation` is for error messages.
  template <class Request>
  void run(const char* operation, std::span<const std::int64_t> indices, const Request& request) {
    with_offsets(table_.map(), [&](auto offset, auto locate) {
      run_with<decltype(offset)>(operation, locate, indices, request);
    });
  }

  [[nodiscard]] traffic sent() const {
    traffic sum = value_engine_->sent();
    if (offset_engine_) sum += offset_engine_->sent();
    return sum;
  }
  [[nodiscard]] exchange_stats stats() const {
    exchange_stats sum{.requests = value_engine_->stats()};
    if (offset_engine_) sum.requests += offset_engine_->stats();
    return sum;
  }

 private:
  template <class Offset, class Locate, class Request>
  void run_with(const char* operation, Locate locate, std::span<const std::int64_t> indices,
                const Request& request) {
    index_checker checked(operation, indices, table_.size(), table_.team().rank());
    const auto item_of = [&checked, locate, request](std::size_t i) {
      const location at = locate(checked[i]);
      return addressed<typename Request::template item<Offset>>{
          at.rank, request.template make_item<Offset>(i, static_cast<Offset>(at.offset))};
    };
    using item = typename Request::template item<Offset>;
    using header = typename Request::header;
    const apply_request<Request, item> apply{request, request.header_of_rank()};
    const auto deliver_over = [&](auto& engine) {
      return try_deliver<item>(engine, indices.size(), item_of, apply);
    };
    const auto run = [&] {
      if constexpr (!std::is_empty_v<header>) {
        return deliver_over(*offset_engine_);
      } else {
        if (!recent_) return deliver_over(*value_engine_);
        combining<conveyor, item, merge_requests<Request>> combined(*value_engine_, *recent_,
                                                                    {request});
        return deliver_over(combined);
      }
    };
    const int failed_rank = run();
    if (failed_rank >= 0) throw_peer_failed(operation, table_.team(), failed_rank);
  }

  const table_view<T, Distribution>& table_;
  std::unique_ptr<conveyor> value_engine_;
  std::unique_ptr<conveyor> offset_engine_;  // null without constant requests
  std::optional<recent_items> recent_;       // only with combining
};

}  // namespace longshore::detail
