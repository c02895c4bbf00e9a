// scatter: table[indices[i]] = values[i], where the table is spread over all ranks and the indices are any.
#pragma once

#include <longshore/gather/agp_requests.hpp>
#include <longshore/gather/direct_scatter.hpp>
#include <longshore/gather/engine_requests.hpp>
#include <longshore/gather/exstack_requests.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/gather/plans_by_size.hpp>
#include <longshore/gather/tuning_table.hpp>

#include <optional>
#include <type_traits>

namespace longshore {

/// What scatters into one table need, made once and used often: nothing is allocated while it is used (by strategy auto, where it depends
/// on the number of requests, when a size is first met).
///
///     longshore::scatter_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, values);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class scatter_plan {
 public:
  /// Why `strategy` cannot be used with such elements, or nothing. `all_reachable`: whether every rank can store to the memory of
  /// every other.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy, bool all_reachable) {
    if (strategy == gather_strategy::agp && !gathering::is_one_word<T>)
      return fmt::format(
          "strategy agp stores elements of 1, 2, 4 or 8 bytes: one of {} bytes would be mixed of the values of two ranks: use "
          "exstack",
          sizeof(T));
    return longshore::why_not(strategy, all_reachable);
  }

  /// Collective; options are the same on all ranks. Throws, on all ranks, errc::unsupported for a strategy that is not there or
  /// not possible here, errc::usage for buffers of no items, errc::out_of_memory. Strategy auto measures for a part of a second in
  /// a layout that the profile of this machine does not have yet.
  explicit scatter_plan(dist_array<T, Distribution>& table, scatter_options options = {})
      : table_(table), decision_(decide(table, options)), strategy_(decision_.by_size.front().strategy) {
    if (decision_.depends_on_requests()) {
      sized_.emplace(table.team(), decision_.by_size, [&table, options](const gather_choice& choice) {
        return std::make_unique<scatter_plan>(table, gathering::with_choice(options, choice));
      });
      return;
    }
    options = gathering::with_choice(options, decision_.by_size.front());
    const bool stores = strategy_ == gather_strategy::agp || gathering::scatters_by_stores(table, strategy_);
    if (gathering::is_asynchronous(strategy_))
      engine_.emplace(table, strategy_, options, false);
    else if (!stores)
      exstack_.emplace(table, options.buffer_items, true, options.combine);
  }

  /// table[indices[i]] = values[i] for all i; indices are global, any number of them, different on each rank. Of two values for
  /// one element one wins, whole; not always the later one.
  /// Collective. The elements may be read by all ranks after the barrier that follows (none is made here); nobody may touch them
  /// before.
  /// Throws errc::usage when the sizes differ or an index is out of range (then, unless the strategy is agp or direct,
  /// errc::peer_failed on the other ranks); the plan can be used again, the table may be written in part.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    if (sized_) {
      scatter_plan& plan = sized_->at(indices.size());
      plan(indices, values);
      moved_ = plan.moved();
      return;
    }
    if (values.size() != indices.size()) {
      if (exstack_) exstack_->refuse();
      if (engine_) engine_->refuse();
      fail(errc::usage, "scatter on rank {}: {} indices, but {} values: both must be the same", table_.team().rank(),
           indices.size(), values.size());
    }
    moved_ = {};
    if (exstack_) {
      const traffic before = exstack_->sent();
      exstack_->run("scatter", indices, gathering::store_request<T>{values.data(), table_.local().data()});
      moved_ = exstack_->sent() - before;
    } else if (engine_) {
      const traffic before = engine_->sent();
      engine_->run("scatter", indices, gathering::store_request<T>{values.data(), table_.local().data()});
      moved_ = engine_->sent() - before;
    } else if constexpr (gathering::is_one_word<T>) {
      if (strategy_ == gather_strategy::agp)
        gathering::scatter_agp("scatter", table_, indices, values, moved_);
      else
        gathering::scatter_direct("scatter", table_, indices, values);
    }
    moved_.payload_bytes = values.size_bytes();
  }

  /// The strategy in use: what automatic has become, for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The same with size of buffers and hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return sized_ ? sized_->current() : decision_.by_size.front(); }
  /// All choices, and why.
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  /// What this rank moved in the last call: payload is the values; offsets count as wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  /// What happened on this rank since the plan was made: messages and their fill by hop, latencies, waits.
  [[nodiscard]] exchange_report what_happened() const {
    if (sized_) return sized_->what_happened();
    if (exstack_) return exstack_->report();
    return engine_ ? engine_->report() : exchange_report{};
  }

 private:
  static gather_decision decide(const dist_array<T, Distribution>& table, const scatter_options& options) {
    return gathering::decide(
        table.team(),
        {"scatter", "scatter", sizeof(T), table.size(), table.map().largest_local_size(), table.is_all_direct(), why_not},
        options,
        gathering::tuning_like(
            table,
            [options](dist_array<T, Distribution>& with, const gather_choice& choice) {
              return scatter_plan(with, gathering::with_choice(options, choice));
            },
            [](scatter_plan& plan, auto indices, auto values) { plan(indices, values); }));
  }

  dist_array<T, Distribution>& table_;
  gather_decision decision_;
  gather_strategy strategy_;
  std::optional<gathering::plans_by_size<scatter_plan>> sized_;
  std::optional<gathering::exstack_requests<T, Distribution>> exstack_;
  std::optional<gathering::engine_requests<T, Distribution>> engine_;
  traffic moved_;
};

/// Collective. One scatter with a plan of its own; see scatter_plan, which is better where more than one follows.
template <trivially_copyable T, distribution Distribution>
void scatter(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
             std::type_identity_t<std::span<const T>> values, scatter_options options = {}) {
  options.expected_requests = indices.size();
  scatter_plan<T, Distribution> plan(table, options);
  plan(indices, values);
}

}  // namespace longshore
