// update_dispatch: the implementation behind update_plan. The constructor decides on a strategy;
// run() calls that strategy. update.hpp includes this file at its end.
#pragma once

#include <longshore/core/detail/type_name.hpp>
#include <longshore/gather/detail/agp_requests.hpp>
#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>
#include <longshore/gather/detail/update_by_private_copies.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
class update_dispatch final : public update_implementation<T> {
  using base = update_implementation<T>;
  using base::moved_, base::name_;

 public:
  /// Collective.
  update_dispatch(const table_view<T, Distribution>& table, const Op& op, update_options options)
      : base(decide_strategy(table, op, options)), table_(table), op_(op) {
    if (this->decision().depends_on_requests()) {
      this->make_plans_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<update_dispatch>(table_, op_, apply_choice(options, choice));
      });
      return;
    }
    options = apply_choice(options, this->choice());
    combine_ = options.combine;
    if (options.strategy == gather_strategy::agp) return;
    constexpr std::size_t link_bytes_per_item = request_slots * (sizeof(std::uint32_t) + sizeof(T));
    if (is_asynchronous(options.strategy)) {
      engine_.emplace(
          buffer_sizing(
              table_.team(), options,
              has_several_hops(table_.team(), options.strategy, options) ? 0 : link_bytes_per_item),
          [this, options](auto& exchange, std::size_t buffer_items) mutable {
            options.buffer_items = buffer_items;
            // combined requests have values
            const bool has_constant_requests = !options.combine;
            exchange.emplace(table_, options.strategy, options, has_constant_requests);
          });
      return;
    }
    if constexpr (has_identity<Op, T>)
      if (options.strategy == gather_strategy::direct &&
          copies::fit(table, last_level_cache_bytes()))
        copies_.emplace(table_, op);
    // Strategy direct with a larger table uses exstack, too: owners that apply requests from shared
    // buffers are faster than atomic operations.
    if (!copies_)
      exstack_.emplace(buffer_sizing(table_.team(), options, link_bytes_per_item),
                       [this, options](auto& exchange, std::size_t buffer_items) {
                         exchange.emplace(table_, buffer_items, options.combine);
                       });
  }

  void run(std::span<const std::int64_t> indices, std::span<const T> values) override {
    if (this->has_plans_by_size()) return run_plan_for_size(indices, values);
    prepare_buffers(indices);
    if (values.size() != indices.size()) {
      if (copies_) copies_->run_as_failed();
      if (exstack_) exstack_->run_as_failed();
      if (engine_) engine_->run_as_failed();
      throw_size_error(name_, table_.team().rank(), indices.size(), values.size());
    }
    run_with_values(indices, update_values<T>::one_per_index(values.data()));
    moved_.payload_bytes = values.size_bytes();
  }

  void run(std::span<const std::int64_t> indices, const T& amount) override {
    if (this->has_plans_by_size()) return run_plan_for_size(indices, amount);
    prepare_buffers(indices);
    if (combine_ || (engine_ && !engine_->is_same_on_all_ranks(amount)))
      run_with_values(indices, update_values<T>::same_for_all(&amount));
    else
      run_with(
          indices, [amount](std::size_t) { return amount; },
          constant_amount_request<T, Op>{amount, table_.local().data(), op_});
    moved_.payload_bytes = indices.size_bytes();
  }

 private:
  static gather_decision decide_strategy(const table_view<T, Distribution>& table, const Op& op,
                                         const update_options& options) {
    const auto why_not = [](gather_strategy strategy, bool all_reachable) {
      return why_not_update(strategy, all_reachable, sizeof(T), is_fetch_add<T, Op>);
    };
    decision_inputs inputs = inputs_for("update", table, why_not);
    if constexpr (requires { std::string_view(op.name()); })
      inputs.function = op.name();
    else
      inputs.function = type_name<Op>();
    // Ranks that reach all memory are on one host and share its last-level cache.
    if (has_identity<Op, T> && inputs.all_direct && copies::fit(table, last_level_cache_bytes()))
      inputs.measured_operation = "update-copies";
    const auto call = [](update_dispatch& plan, auto indices, auto values) {
      plan.run(indices, values.front());
    };
    return detail::decide_strategy(table.team(), inputs, options,
                                   prepare_plans<update_dispatch>(table, options, call, op));
  }
  [[nodiscard]] exchange_stats strategy_stats() const override {
    return stats_of(exstack_, engine_);
  }

  void prepare_buffers(std::span<const std::int64_t> indices) {
    exstack_.prepare(indices.size());
    engine_.prepare(indices.size());
  }

  void run_plan_for_size(std::span<const std::int64_t> indices, const auto& values) {
    this->template with_plan_for<base>(indices.size(), [&](base& plan) {
      plan.set_name(name_);
      plan.run(indices, values);
    });
  }

  void run_with_values(std::span<const std::int64_t> indices, update_values<T> values) {
    run_with(indices, values, update_request<T, Op>{values, table_.local().data(), op_});
  }

  template <class ValueOf, class Request>
  void run_with(std::span<const std::int64_t> indices, ValueOf value_of, const Request& request) {
    moved_ = {};
    const auto run_on = [&](auto& engine) { engine.run(name_, indices, request); };
    if (exstack_) {
      moved_ = traffic_of(*exstack_, run_on);
    } else if (engine_) {
      moved_ = traffic_of(*engine_, run_on);
    } else if (copies_) {
      table_.team().charge("private_updates", indices.size());
      if constexpr (has_identity<Op, T>) copies_->run(name_, indices, value_of);
    } else if constexpr (is_one_word<T>) {
      table_.team().charge("table_updates", indices.size());
      update_agp(name_, table_, indices, value_of, op_, this->decision().all_reachable, moved_);
    }
  }

  // Stands for update_by_private_copies if the operation has no identity; no such object is made.
  struct no_copies {
    static bool fit(const auto&, std::size_t) noexcept { return false; }
    void run_as_failed() const noexcept {}
  };
  template <class Operation, bool>
  struct copies_of {
    using type = no_copies;
  };
  template <class Operation>
  struct copies_of<Operation, true> {
    using type = update_by_private_copies<T, Distribution, Operation>;
  };
  using copies = typename copies_of<Op, has_identity<Op, T>>::type;

  table_view<T, Distribution> table_;
  Op op_;
  bool combine_ = false;
  sized_exchange<exstack_requests<T, Distribution>> exstack_;
  sized_exchange<engine_requests<T, Distribution>> engine_;
  std::optional<copies> copies_;
};

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
std::unique_ptr<update_implementation<T>> plan_update(const table_view<T, Distribution>& table,
                                                      const Op& op, const update_options& options) {
  return std::make_unique<update_dispatch<T, Distribution, Op>>(table, op, options);
}

}  // namespace longshore::detail
