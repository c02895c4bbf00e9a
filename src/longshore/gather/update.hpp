// update and histogram: table[indices[i]] = op(table[indices[i]], value), where the table is spread over all ranks and the indices
// are any; nothing is lost however many ranks meet at one element.
#pragma once

#include <longshore/gather/agp_requests.hpp>
#include <longshore/gather/engine_requests.hpp>
#include <longshore/gather/exstack_requests.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/gather/plans_by_size.hpp>
#include <longshore/gather/private_copies.hpp>
#include <longshore/gather/tuning_table.hpp>
#include <longshore/machine/memory.hpp>

#include <optional>
#include <type_traits>

namespace longshore {

/// What updates of one table need, made once and used often: nothing is allocated while it is used (by strategy auto, where it depends
/// on the number of requests, when a size is first met).
///
///     longshore::update_plan largest(table, longshore::op::max{});
///     largest(indices, values);
///     longshore::update_plan count(table);  // adds
///     count(indices, 1);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add>
class update_plan {
 public:
  /// Why `strategy` cannot be used with such elements and this operation, or nothing. `all_reachable`: whether every rank can load
  /// from and store to the memory of every other.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy, bool all_reachable) {
    if (strategy == gather_strategy::agp && !gathering::is_one_word<T>)
      return fmt::format(
          "strategy agp needs atomics, which there are for elements of 1, 2, 4 and 8 bytes, not of {}: use exstack", sizeof(T));
    if (strategy == gather_strategy::agp && !all_reachable && !gathering::is_fetch_add<T, Op>)
      return "strategy agp needs an atomic of the transport where some ranks are on other nodes, and there is one only for "
             "adding "
             "64-bit integers: use exstack";
    return longshore::why_not(strategy, all_reachable);
  }

  /// Collective; options are the same on all ranks. Throws, on all ranks, errc::unsupported for a strategy that is not there or
  /// not possible here, errc::usage for buffers of no items, errc::out_of_memory. Strategy auto measures for a part of a second in
  /// a layout that the profile of this machine does not have yet: updates by one value for all, since these are histograms.
  explicit update_plan(dist_array<T, Distribution>& table, Op op, update_options options = {})
      : table_(table), op_(op), decision_(decide(table, op, options)) {
    if (decision_.depends_on_requests()) {
      sized_.emplace(table.team(), decision_.by_size, [&table, op, options](const gather_choice& choice) {
        return std::make_unique<update_plan>(table, op, gathering::with_choice(options, choice));
      });
      return;
    }
    options = gathering::with_choice(options, decision_.by_size.front());
    strategy_ = options.strategy;
    all_reachable_ = decision_.all_reachable;
    combine_ = options.combine;
    if (strategy_ == gather_strategy::agp) return;
    if (gathering::is_asynchronous(strategy_)) {
      engine_.emplace(table, strategy_, options, !combine_);  // what combines has values
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (strategy_ == gather_strategy::direct && copies::fit(table, last_level_cache_bytes())) copies_.emplace(table, op);
    // direct with a larger table, too: owners that apply what lies in shared buffers are faster than atomics.
    if (!copies_) exstack_.emplace(table, options.buffer_items, true, options.combine);
  }
  explicit update_plan(dist_array<T, Distribution>& table, update_options options = {}) requires std::default_initializable<Op>
      : update_plan(table, Op{}, options) {}

  /// table[indices[i]] = op(table[indices[i]], values[i]) for all i, in any order; indices are global, any number of them,
  /// different on each rank.
  /// Collective. The elements may be read by all ranks after the barrier that follows (none is made here); nobody may touch them
  /// before.
  /// Throws errc::usage when the sizes differ or an index is out of range (then, unless the strategy is agp, errc::peer_failed
  /// on the other ranks); the plan can be used again, the table may be updated in part.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    if (sized_) return run_sized(indices, values);
    if (values.size() != indices.size()) {
      if (copies_) copies_->refuse();
      if (exstack_) exstack_->refuse();
      if (engine_) engine_->refuse();
      fail(errc::usage, "update on rank {}: {} indices, but {} values: both must be the same", table_.team().rank(),
           indices.size(), values.size());
    }
    const values_in_memory value_of{values.data(), ~std::size_t{0}};
    run(indices, value_of, gathering::update_request<T, Op, values_in_memory>{value_of, table_.local().data(), op_});
    moved_.payload_bytes = values.size_bytes();
  }

  /// table[indices[i]] = op(table[indices[i]], amount) for all i: the same with one value, which then need not travel with each
  /// index. The amount may differ between ranks.
  void operator()(std::span<const std::int64_t> indices, const T& amount) {
    if (sized_) return run_sized(indices, amount);
    const values_in_memory value_of{&amount, 0};
    if (combine_ || (engine_ && !engine_->is_common(amount)))
      run(indices, value_of, gathering::update_request<T, Op, values_in_memory>{value_of, table_.local().data(), op_});
    else
      run(
          indices, [amount](std::size_t) { return amount; }, gathering::count_request<T, Op>{amount, table_.local().data(), op_});
    moved_.payload_bytes = indices.size_bytes();
  }

  /// The strategy in use: what automatic has become, for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The same with size of buffers and hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return sized_ ? sized_->current() : decision_.by_size.front(); }
  /// All choices, and why.
  [[nodiscard]] const gather_decision& decision() const noexcept { return decision_; }
  /// What this rank moved in the last call. Payload is the values, or the indices where the value is one constant.
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  /// What happened on this rank since the plan was made: messages and their fill by hop, latencies, waits.
  [[nodiscard]] exchange_report what_happened() const {
    if (sized_) return sized_->what_happened();
    if (exstack_) return exstack_->report();
    return engine_ ? engine_->report() : exchange_report{};
  }

 private:
  using values_in_memory = gathering::values_in_memory<T>;

  static gather_decision decide(const dist_array<T, Distribution>& table, const Op& op, const update_options& options) {
    const bool in_copies = has_identity<Op, T> && table.is_all_direct() && copies::fit(table, last_level_cache_bytes());
    return gathering::decide(table.team(),
                             {"update", in_copies ? "update-copies" : "update", sizeof(T), table.size(),
                              table.map().largest_local_size(), table.is_all_direct(), why_not},
                             options,
                             gathering::tuning_like(
                                 table,
                                 [op, options](dist_array<T, Distribution>& with, const gather_choice& choice) {
                                   return update_plan(with, op, gathering::with_choice(options, choice));
                                 },
                                 [](update_plan& plan, auto indices, auto values) { plan(indices, values.front()); }));
  }

  void run_sized(std::span<const std::int64_t> indices, const auto& values) {
    update_plan& plan = sized_->at(indices.size());
    plan(indices, values);
    moved_ = plan.moved();
  }

  template <class ValueOf, class Request>
  void run(std::span<const std::int64_t> indices, ValueOf value_of, const Request& request) {
    moved_ = {};
    if (exstack_) {
      const traffic before = exstack_->sent();
      exstack_->run("update", indices, request);
      moved_ = exstack_->sent() - before;
      return;
    }
    if (engine_) {
      const traffic before = engine_->sent();
      engine_->run("update", indices, request);
      moved_ = engine_->sent() - before;
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (copies_) return copies_->run("update", indices, value_of);
    if constexpr (gathering::is_one_word<T>)
      gathering::update_agp("update", table_, indices, value_of, op_, all_reachable_, moved_);
  }

  // An operation without identity has no copies: a placeholder that is never made.
  struct no_copies {
    static bool fit(const auto&, std::size_t) noexcept { return false; }
    void refuse() const noexcept {}
  };
  template <class O, bool>
  struct copies_of {
    using type = no_copies;
  };
  template <class O>
  struct copies_of<O, true> {
    using type = gathering::private_copies<T, Distribution, O>;
  };
  using copies = typename copies_of<Op, has_identity<Op, T>>::type;

  dist_array<T, Distribution>& table_;
  Op op_;
  gather_decision decision_;
  std::optional<gathering::plans_by_size<update_plan>> sized_;
  gather_strategy strategy_ = gather_strategy::automatic;
  bool all_reachable_ = false, combine_ = false;
  std::optional<gathering::exstack_requests<T, Distribution>> exstack_;
  std::optional<gathering::engine_requests<T, Distribution>> engine_;
  std::optional<copies> copies_;
  traffic moved_;
};

template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&) -> update_plan<T, Distribution>;
template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&, update_options) -> update_plan<T, Distribution>;

/// Collective. One update with a plan of its own; see update_plan, which is better where more than one follows.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
void update(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<const T>> values, Op op, update_options options = {}) {
  options.expected_requests = indices.size();
  update_plan<T, Distribution, Op> plan(table, op, options);
  plan(indices, values);
}

/// Collective. Counts: table[indices[i]] += amount; see update_plan, which is better where more than one follows.
template <trivially_copyable T, distribution Distribution>
requires update_operation<op::add, T>
void histogram(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices, std::type_identity_t<T> amount = T{1},
               update_options options = {}) {
  options.expected_requests = indices.size();
  update_plan<T, Distribution> plan(table, options);
  plan(indices, amount);
}

}  // namespace longshore
