// Requests to the owners of elements over an asynchronous engine: each owner does what it was asked
// to with its own part, so that nothing needs atomics. scatter and updates by strategies exstack2,
// conveyor and aggregator.
#pragma once

#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/gather/detail/checked_indices.hpp>
#include <longshore/gather/detail/engine_choice.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/gather/exchange_report.hpp>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// What an owner does with a request that arrived, and how two for one element become one: the same
/// for all distributions.
template <class Request, class Item>
struct apply_request {
  Request request;
  typename Request::head head;  // of a constant: everybody's
  void operator()(int, const Item& arrived) const { request.apply(head, arrived); }
};
template <class Request>
struct of_one_element {
  const Request& request;
  [[nodiscard]] std::uint64_t place(const auto& one) const { return one.offset(); }
  template <class Item>
  void combine(Item& into, const Item& more) const {
    request.merge(into, more);
  }
};

/// The engine of one table's requests, kept between uses; a second one for updates by a constant,
/// whose value need not travel. Cost: see conveyor, for items of 4 bytes of offset (8 where a part
/// has more than 2^32 elements) and sizeof(T), or offsets alone. Combining: see combining.
template <trivially_copyable T, distribution Distribution>
class engine_requests {
 public:
  /// Collective. `constants`: whether requests without values will be made too: these are never
  /// combined.
  engine_requests(const table_parts<T, Distribution>& table, gather_strategy strategy,
                  const gather_options& asked, bool constants)
      : table_(table) {
    engine_options options = engine_options_of(table.team(), strategy, asked);
    options.slots = request_slots;
    options.item_bytes = offset_bytes(table.map()) + sizeof(T);
    with_values_ = std::make_unique<conveyor>(table.team(), options);
    options.item_bytes = offset_bytes(table.map());
    if (asked.combine) recent_.emplace(remembered_by(*with_values_));
    if (constants) offsets_ = std::make_unique<conveyor>(table.team(), options);
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

  /// Collective. Whether all ranks have the same constant: then offsets alone can travel.
  [[nodiscard]] bool is_common(const T& amount) {
    // The least of all words and of all their complements: both are those of this rank only where
    // all ranks have the same.
    constexpr std::size_t words = (sizeof(T) + sizeof(std::int64_t) - 1) / sizeof(std::int64_t);
    std::array<std::int64_t, 2 * words> mine{};
    std::memcpy(mine.data(), &amount, sizeof(T));
    for (std::size_t w = 0; w < words; ++w) mine[words + w] = ~mine[w];
    auto least = mine;
    table_.team().allreduce(least, reduction::min);
    // the least and the largest are the same on all ranks, and so is the answer
    return least == mine;
  }

  /// Collective with run() of the other ranks: tells them that this rank cannot take part. What
  /// they asked of it is not done.
  void refuse() {
    const auto nothing_to_say = [this]<class Offset>(Offset) {
      using item = offset_and_value<Offset, T>;
      static_cast<void>(deliver_unless_failed<item>(
          *with_values_, 1, [](std::size_t) -> addressed<item> { throw refusal{}; },
          [](int, const item&) {}));
    };
    try {
      with_offsets(table_.map(), [&](auto offset, auto) { nothing_to_say(offset); });
    } catch (const refusal&) {  // which all others know of now
    }
  }

  [[nodiscard]] traffic sent() const {
    traffic all = with_values_->sent();
    if (offsets_) all += offsets_->sent();
    return all;
  }
  [[nodiscard]] exchange_report report() const {
    exchange_report all{.requests = with_values_->report()};
    if (offsets_) all.requests += offsets_->report();
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
          at.rank, request.template make<Offset>(i, static_cast<Offset>(at.offset))};
    };
    using item = typename Request::template item<Offset>;
    using head = typename Request::head;
    const apply_request<Request, item> apply{request, request.own_head()};
    const auto carry = [&](auto& engine) {
      return deliver_unless_failed<item>(engine, indices.size(), item_of, apply);
    };
    const auto run = [&] {
      if constexpr (!std::is_empty_v<head>) {
        return carry(*offsets_);
      } else {
        if (!recent_) return carry(*with_values_);
        combining<conveyor, item, of_one_element<Request>> combined(*with_values_, *recent_,
                                                                    {request});
        return carry(combined);
      }
    };
    const int failed_rank = run();
    if (failed_rank >= 0) give_up(operation, table_.team(), failed_rank);
  }

  const table_parts<T, Distribution>& table_;
  std::unique_ptr<conveyor> with_values_, offsets_;
  std::optional<recent_items> recent_;  // where requests combine
};

}  // namespace longshore::detail
