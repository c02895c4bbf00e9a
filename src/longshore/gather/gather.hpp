// gather: out[i] = table[indices[i]], where the table is spread over all ranks and the indices are any.
#pragma once

#include <longshore/gather/agp.hpp>
#include <longshore/gather/direct.hpp>
#include <longshore/gather/engine_gather.hpp>
#include <longshore/gather/exstack.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/gather/plans_by_size.hpp>
#include <longshore/gather/tuning_table.hpp>
#include <longshore/machine/memory.hpp>

#include <optional>
#include <type_traits>

namespace longshore {

/// What gathers from one table need, made once and used often: nothing is allocated while it is used (by strategy auto, where it depends
/// on the number of requests, when a size is first met).
///
///     longshore::gather_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, out);
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class gather_plan {
 public:
  /// Collective; options are the same on all ranks. Throws, on all ranks, errc::unsupported for a strategy that is not there or
  /// not possible here, errc::usage for buffers of no items, errc::out_of_memory. Strategy auto measures for a part of a second in
  /// a layout that the profile of this machine does not have yet.
  explicit gather_plan(const dist_array<T, Distribution>& table, gather_options options = {})
      : table_(table), decision_(decide(table, options)), strategy_(decision_.by_size.front().strategy) {
    if (decision_.depends_on_requests()) {
      sized_.emplace(table.team(), decision_.by_size, [&table, options](const gather_choice& choice) {
        return std::make_unique<gather_plan>(table, gathering::with_choice(options, choice));
      });
      return;
    }
    options = gathering::with_choice(options, decision_.by_size.front());
    if (strategy_ == gather_strategy::exstack) exstack_.emplace(table, options.buffer_items, options.combine);
    if (gathering::is_asynchronous(strategy_)) engine_.emplace(table, strategy_, options);
    if (strategy_ == gather_strategy::direct) direct_.emplace(table);
    cache_bytes_ = last_level_cache_bytes() / static_cast<std::size_t>(table.team().nodes().my_rank_count());
  }

  /// out[i] = table[indices[i]] for all i; indices are global, any number of them, different on each rank.
  /// Collective with auto and with strategies that aggregate; with agp and direct a call of this rank alone. What other ranks wrote into the table must be
  /// behind a barrier, and nobody may write into it before all ranks have returned (no barrier is made here).
  /// Throws errc::usage when the sizes differ or an index is out of range (then, if they aggregate, errc::peer_failed on the other
  /// ranks); the plan can be used again, `out` may be written in part.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    if (sized_) {
      gather_plan& plan = sized_->at(indices.size());
      plan(indices, out);
      moved_ = plan.moved();
      return;
    }
    if (out.size() != indices.size()) {
      if (exstack_) exstack_->refuse();
      if (engine_) engine_->refuse();
      fail(errc::usage, "gather on rank {}: {} indices, but room for {} values: both must be the same", table_.team().rank(),
           indices.size(), out.size());
    }
    moved_ = {};
    switch (strategy_) {
      case gather_strategy::agp: gathering::gather_agp(table_, indices, out, moved_); break;
      case gather_strategy::exstack: {
        const traffic before = exstack_->sent();
        (*exstack_)(indices, out);
        moved_ = exstack_->sent() - before;
        break;
      }
      case gather_strategy::direct: (*direct_)(indices, out, out.size_bytes() >= cache_bytes_); break;
      default: {
        const traffic before = engine_->sent();
        (*engine_)(indices, out);
        moved_ = engine_->sent() - before;
        break;
      }
    }
    moved_.payload_bytes = out.size_bytes();
  }

  /// The strategy in use: what automatic has become, for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The same with size of buffers and hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return sized_ ? sized_->current() : decision_.by_size.front(); }
  /// All choices, and why.
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  /// What this rank moved in the last call: payload is the values; questions count as wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  /// What happened on this rank since the plan was made: messages and their fill by hop, latencies, waits.
  [[nodiscard]] exchange_report what_happened() const {
    if (sized_) return sized_->what_happened();
    if (exstack_) return exstack_->report();
    return engine_ ? engine_->report() : exchange_report{};
  }

 private:
  static gather_decision decide(const dist_array<T, Distribution>& table, const gather_options& options) {
    return gathering::decide(
        table.team(),
        {"gather", "gather", sizeof(T), table.size(), table.map().largest_local_size(), table.is_all_direct(), why_not}, options,
        gathering::tuning_like(
            table,
            [options](const dist_array<T, Distribution>& with, const gather_choice& choice) {
              return gather_plan(with, gathering::with_choice(options, choice));
            },
            [](gather_plan& plan, auto indices, auto values) { plan(indices, values); }));
  }

  const dist_array<T, Distribution>& table_;
  gather_decision decision_;
  gather_strategy strategy_;
  std::optional<gathering::plans_by_size<gather_plan>> sized_;
  std::optional<gathering::exstack_gather<T, Distribution>> exstack_;
  std::optional<gathering::engine_gather<T, Distribution>> engine_;
  std::optional<gathering::direct_gather<T, Distribution>> direct_;
  std::size_t cache_bytes_ = 0;  // this rank's share of the last level
  traffic moved_;
};

/// Collective. One gather with a plan of its own; see gather_plan, which is better where more than one follows.
template <trivially_copyable T, distribution Distribution>
void gather(const dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<T>> out, gather_options options = {}) {
  options.expected_requests = indices.size();
  gather_plan<T, Distribution> plan(table, options);
  plan(indices, out);
}

}  // namespace longshore
