// Requests to the owners of elements over an asynchronous engine: each owner does what it was asked to with its own part, so that
// nothing needs atomics. scatter and updates by strategies exstack2, conveyor and aggregator.
#pragma once

#include <longshore/aggregate/combining.hpp>
#include <longshore/aggregate/deliver.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/gather/engine_choice.hpp>
#include <longshore/gather/exchange_report.hpp>
#include <longshore/gather/request.hpp>

#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::gathering {

/// The engine of one table's requests, kept between uses; a second one for updates by a constant, whose value need not travel.
/// Cost: see conveyor, for items of 4 bytes of offset (8 where a part has more than 2^32 elements) and sizeof(T), or offsets alone.
/// Combining: see combining.
template <trivially_copyable T, distribution Distribution>
class engine_requests {
 public:
  /// Collective. `constants`: whether requests without values will be made too: these are never combined.
  engine_requests(const dist_array<T, Distribution>& table, gather_strategy strategy, const gather_options& asked, bool constants)
      : table_(table), narrow_(table.map().largest_local_size() <= std::numeric_limits<std::uint32_t>::max()) {
    engine_options options = engine_options_of(table.team(), strategy, asked);
    const std::size_t offset_bytes = narrow_ ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
    options.item_bytes = offset_bytes + sizeof(T);
    with_values_ = std::make_unique<conveyor>(table.team(), options);
    options.item_bytes = offset_bytes;
    if (asked.combine) recent_.emplace(remembered_by(*with_values_));
    if (constants) offsets_ = std::make_unique<conveyor>(table.team(), options);
  }

  /// Collective. Asks the owner of table[indices[i]] for request.make(i), and does what the others ask this rank. On return this
  /// rank's part is as all ranks want it. `operation` is for messages.
  /// Throws errc::usage for an index out of range, and errc::peer_failed on the other ranks; the object can be used again after both.
  template <class Request>
  void run(const char* operation, std::span<const std::int64_t> indices, const Request& request) {
    agree_on_indices(table_.team(), operation, indices, table_.size());
    if (narrow_)
      table_.map().with_locator([&](auto locate) { run_with<std::uint32_t>(locate, indices, request); });
    else  // parts this large miss every cache: indexing no longer decides, and one loop will do
      run_with<std::uint64_t>([map = table_.map()](std::uint64_t index) { return map.owner_offset(index); }, indices, request);
  }

  /// Collective. Whether all ranks have the same constant: then offsets alone can travel.
  [[nodiscard]] bool is_common(const T& amount) {
    std::byte first[sizeof(T)];
    std::memcpy(first, &amount, sizeof(T));
    table_.team().broadcast(first, 0);
    return table_.team().allreduce_value(std::memcmp(first, &amount, sizeof(T)) == 0 ? 1 : 0, reduction::min) == 1;
  }

  /// Collective with run() of the other ranks: tells them that this rank cannot take part.
  void refuse() { refuse_to_agree(table_.team()); }

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
  template <class Request>
  struct of_one_element {
    const Request& request;
    [[nodiscard]] std::uint64_t place(const auto& one) const { return one.offset(); }
    template <class Item>
    void combine(Item& into, const Item& more) const {
      request.merge(into, more);
    }
  };

  template <class Offset, class Locate, class Request>
  void run_with(Locate locate, std::span<const std::int64_t> indices, const Request& request) {
    using item = typename Request::template item<Offset>;
    using head = typename Request::head;
    const head mine = request.own_head();  // of a constant: everybody's
    const auto item_of = [&](std::size_t i) {
      const location at = locate(static_cast<std::uint64_t>(indices[i]));
      return addressed<item>{at.rank, request.template make<Offset>(i, static_cast<Offset>(at.offset))};
    };
    const auto apply = [&](int, const item& arrived) { request.apply(mine, arrived); };
    if constexpr (std::is_empty_v<head>) {
      if (recent_) {
        combining<conveyor, item, of_one_element<Request>> combined(*with_values_, *recent_, {request});
        deliver<item>(combined, indices.size(), item_of, apply);
      } else {
        deliver<item>(*with_values_, indices.size(), item_of, apply);
      }
    } else {
      deliver<item>(*offsets_, indices.size(), item_of, apply);
    }
  }

  const dist_array<T, Distribution>& table_;
  bool narrow_;  // offsets fit into 32 bits
  std::unique_ptr<conveyor> with_values_, offsets_;
  std::optional<recent_items> recent_;  // where requests combine
};

}  // namespace longshore::gathering
