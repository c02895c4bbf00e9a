// What an update_plan is inside. Included by update.hpp, below what users see.
#pragma once

#include <longshore/gather/detail/agp_requests.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/private_copies.hpp>
#include <longshore/gather/detail/tuning_table.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/machine/memory.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
class update_by_strategy final : public planned_update<T> {
  using base = planned_update<T>;
  using base::moved_, base::name_;

 public:
  update_by_strategy(const table_parts<T, Distribution>& table, const Op& op,
                     update_options options)
      : base(decide(table, op, options)), table_(table), op_(op) {
    if (this->decision().depends_on_requests()) {
      this->plan_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<update_by_strategy>(table_, op_, with_choice(options, choice));
      });
      return;
    }
    options = with_choice(options, this->choice());
    combine_ = options.combine;
    if (options.strategy == gather_strategy::agp) return;
    if (is_asynchronous(options.strategy)) {
      engine_.emplace(table_, options.strategy, options, !combine_);  // what combines has values
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (options.strategy == gather_strategy::direct &&
          copies::fit(table, last_level_cache_bytes()))
        copies_.emplace(table_, op);
    // direct with a larger table, too: owners that apply what lies in shared buffers are faster
    // than atomics.
    if (!copies_) exstack_.emplace(table_, options.buffer_items, true, options.combine);
  }

  void run(std::span<const std::int64_t> indices, std::span<const T> values) override {
    if (this->is_by_size()) return run_sized(indices, values);
    if (values.size() != indices.size()) {
      if (copies_) copies_->refuse();
      if (exstack_) exstack_->refuse();
      if (engine_) engine_->refuse();
      refuse_sizes(name_, table_.team().rank(), indices.size(), values.size());
    }
    const values_in_memory<T> value_of{values.data(), ~std::size_t{0}};
    run_with(indices, value_of,
             update_request<T, Op, values_in_memory<T>>{value_of, table_.local().data(), op_});
    moved_.payload_bytes = values.size_bytes();
  }

  void run(std::span<const std::int64_t> indices, const T& amount) override {
    if (this->is_by_size()) return run_sized(indices, amount);
    const values_in_memory<T> value_of{&amount, 0};
    if (combine_ || (engine_ && !engine_->is_common(amount)))
      run_with(indices, value_of,
               update_request<T, Op, values_in_memory<T>>{value_of, table_.local().data(), op_});
    else
      run_with(
          indices, [amount](std::size_t) { return amount; },
          count_request<T, Op>{amount, table_.local().data(), op_});
    moved_.payload_bytes = indices.size_bytes();
  }

 private:
  static gather_decision decide(const table_parts<T, Distribution>& table, const Op& op,
                                const update_options& options) {
    const auto why_not = [](gather_strategy strategy, bool all_reachable) {
      return why_not_update(strategy, all_reachable, sizeof(T), is_fetch_add<T, Op>);
    };
    // Ranks that reach all memory are on one host: the cache is that of all.
    const bool in_copies = has_identity<Op, T> && table.is_all_direct() &&
                           copies::fit(table, last_level_cache_bytes());
    return detail::decide(
        table.team(),
        {"update", in_copies ? "update-copies" : "update", sizeof(T), table.size(),
         table.map().largest_local_size(), table.is_all_direct(), why_not},
        options,
        tuning_like(
            table,
            [op, options](const table_parts<T, Distribution>& with, const gather_choice& choice) {
              return std::make_unique<update_by_strategy>(with, op, with_choice(options, choice));
            },
            [](update_by_strategy& plan, auto indices, auto values) {
              plan.run(indices, values.front());
            }));
  }
  [[nodiscard]] exchange_report report() const override { return report_of(exstack_, engine_); }

  void run_sized(std::span<const std::int64_t> indices, const auto& values) {
    this->template run_by_size<base>(indices.size(), [&](base& plan) {
      plan.set_name(name_);
      plan.run(indices, values);
    });
  }

  template <class ValueOf, class Request>
  void run_with(std::span<const std::int64_t> indices, ValueOf value_of, const Request& request) {
    moved_ = {};
    const auto ask = [&](auto& engine) { engine.run(name_, indices, request); };
    if (exstack_) {
      moved_ = traffic_of(*exstack_, ask);
      return;
    }
    if (engine_) {
      moved_ = traffic_of(*engine_, ask);
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (copies_) return copies_->run(name_, indices, value_of);
    if constexpr (is_one_word<T>)
      update_agp(name_, table_, indices, value_of, op_, this->decision().all_reachable, moved_);
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
    using type = private_copies<T, Distribution, O>;
  };
  using copies = typename copies_of<Op, has_identity<Op, T>>::type;

  table_parts<T, Distribution> table_;
  Op op_;
  bool combine_ = false;
  std::optional<exstack_requests<T, Distribution>> exstack_;
  std::optional<engine_requests<T, Distribution>> engine_;
  std::optional<copies> copies_;
};

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
std::unique_ptr<planned_update<T>> plan_update(const table_parts<T, Distribution>& table,
                                               const Op& op, const update_options& options) {
  return std::make_unique<update_by_strategy<T, Distribution, Op>>(table, op, options);
}

}  // namespace longshore::detail
