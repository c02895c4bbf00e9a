// update_dispatch: the implementation behind update_plan. It decides on a strategy and calls it.
// update.hpp includes this file at its end.
#pragma once

#include <longshore/gather/detail/agp_requests.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>
#include <longshore/gather/detail/update_by_private_copies.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/machine/memory.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
class update_dispatch final : public update_plan_base<T> {
  using base = update_plan_base<T>;
  using base::moved_, base::name_;

 public:
  update_dispatch(const table_view<T, Distribution>& table, const Op& op, update_options options)
      : base(decide_strategy(table, op, options)), table_(table), op_(op) {
    if (this->decision().depends_on_requests()) {
      this->plan_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<update_dispatch>(table_, op_, apply_choice(options, choice));
      });
      return;
    }
    options = apply_choice(options, this->choice());
    combine_ = options.combine;
    if (options.strategy == gather_strategy::agp) return;
    if (is_asynchronous(options.strategy)) {
      engine_.emplace(table_, options.strategy, options,
                      !combine_);  // combined requests have values
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (options.strategy == gather_strategy::direct &&
          copies::fit(table, last_level_cache_bytes()))
        copies_.emplace(table_, op);
    // Strategy direct with a larger table, too: owners that apply requests from shared buffers are
    // faster than atomic operations.
    if (!copies_) exstack_.emplace(table_, options.buffer_items, true, options.combine);
  }

  void run(std::span<const std::int64_t> indices, std::span<const T> values) override {
    if (this->is_by_size()) return run_sized(indices, values);
    if (values.size() != indices.size()) {
      if (copies_) copies_->fail_use();
      if (exstack_) exstack_->fail_use();
      if (engine_) engine_->fail_use();
      throw_size_error(name_, table_.team().rank(), indices.size(), values.size());
    }
    const value_source<T> value_of{values.data(), ~std::size_t{0}};
    run_with(indices, value_of,
             update_request<T, Op, value_source<T>>{value_of, table_.local().data(), op_});
    moved_.payload_bytes = values.size_bytes();
  }

  void run(std::span<const std::int64_t> indices, const T& amount) override {
    if (this->is_by_size()) return run_sized(indices, amount);
    const value_source<T> value_of{&amount, 0};
    if (combine_ || (engine_ && !engine_->is_common(amount)))
      run_with(indices, value_of,
               update_request<T, Op, value_source<T>>{value_of, table_.local().data(), op_});
    else
      run_with(
          indices, [amount](std::size_t) { return amount; },
          constant_request<T, Op>{amount, table_.local().data(), op_});
    moved_.payload_bytes = indices.size_bytes();
  }

 private:
  static gather_decision decide_strategy(const table_view<T, Distribution>& table, const Op& op,
                                         const update_options& options) {
    const auto why_not = [](gather_strategy strategy, bool all_reachable) {
      return why_not_update(strategy, all_reachable, sizeof(T), is_fetch_add<T, Op>);
    };
    // Ranks that reach all memory are on one host and share its last-level cache.
    const bool in_copies = has_identity<Op, T> && table.is_all_direct() &&
                           copies::fit(table, last_level_cache_bytes());
    return detail::decide_strategy(
        table.team(),
        {"update", in_copies ? "update-copies" : "update", sizeof(T), table.size(),
         table.map().largest_local_size(), table.is_all_direct(), why_not},
        options,
        prepare_like(
            table,
            [op, options](const table_view<T, Distribution>& with, const gather_choice& choice) {
              return std::make_unique<update_dispatch>(with, op, apply_choice(options, choice));
            },
            [](update_dispatch& plan, auto indices, auto values) {
              plan.run(indices, values.front());
            }));
  }
  [[nodiscard]] exchange_stats strategy_stats() const override {
    return stats_of(exstack_, engine_);
  }

  void run_sized(std::span<const std::int64_t> indices, const auto& values) {
    this->template run_by_size<base>(indices.size(), [&](base& plan) {
      plan.set_name(name_);
      plan.run(indices, values);
    });
  }

  template <class ValueOf, class Request>
  void run_with(std::span<const std::int64_t> indices, ValueOf value_of, const Request& request) {
    moved_ = {};
    const auto run_on = [&](auto& engine) { engine.run(name_, indices, request); };
    if (exstack_) {
      moved_ = traffic_of(*exstack_, run_on);
      return;
    }
    if (engine_) {
      moved_ = traffic_of(*engine_, run_on);
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (copies_) return copies_->run(name_, indices, value_of);
    if constexpr (is_one_word<T>)
      update_agp(name_, table_, indices, value_of, op_, this->decision().all_reachable, moved_);
  }

  // Takes the place of update_by_private_copies for an operation without identity; never made.
  struct no_copies {
    static bool fit(const auto&, std::size_t) noexcept { return false; }
    void fail_use() const noexcept {}
  };
  template <class O, bool>
  struct copies_of {
    using type = no_copies;
  };
  template <class O>
  struct copies_of<O, true> {
    using type = update_by_private_copies<T, Distribution, O>;
  };
  using copies = typename copies_of<Op, has_identity<Op, T>>::type;

  table_view<T, Distribution> table_;
  Op op_;
  bool combine_ = false;
  std::optional<exstack_requests<T, Distribution>> exstack_;
  std::optional<engine_requests<T, Distribution>> engine_;
  std::optional<copies> copies_;
};

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
std::unique_ptr<update_plan_base<T>> plan_update(const table_view<T, Distribution>& table,
                                                 const Op& op, const update_options& options) {
  return std::make_unique<update_dispatch<T, Distribution, Op>>(table, op, options);
}

}  // namespace longshore::detail
