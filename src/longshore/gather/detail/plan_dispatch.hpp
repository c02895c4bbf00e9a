// plan_dispatch: the implementation behind gather_plan, scatter_plan and update_plan. The
// constructor decides on a strategy; run() calls that strategy.
//
// An Operation, such as table_gather, has
//   element, table_type, value_type, function_type
//       of elements; table_view<T, Distribution>; T or const T; and the function of an update
//   exstack_type, engine_type    the exchanges of strategies that aggregate
//   link_bytes_per_item, role, measures_one_value     constants
//   inputs(table, function)      the inputs of decide_strategy()
//   Operation(table, function, options)    makes what a strategy without an exchange needs
//   uses_exstack()               whether the strategy, which has no engine, has an exstack
//   make_engine(engine, table, options)
//   run_over(exchange, call)     runs a call over an exstack or an engine
//   run_alone(call, all_reachable, moved)    runs a call of another strategy; counts the traffic
//   run_as_failed()              takes part in run_alone() of the other ranks
#pragma once

#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/plan_implementation.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>

#include <memory>
#include <optional>

namespace longshore::detail {

struct no_function {};

template <class Operation>
class plan_dispatch final : public table_plan<typename Operation::value_type> {
  using value_type = typename Operation::value_type;
  using table_type = typename Operation::table_type;
  using function_type = typename Operation::function_type;
  using base = table_plan<value_type>;
  using base::moved_;

 public:
  /// Collective.
  plan_dispatch(const table_type& table, const function_type& function, gather_options options)
      : base(decide_strategy(table.team(), Operation::inputs(table, function), options,
                             prepare_plans<plan_dispatch, Operation>(table, function, options))),
        table_(table) {
    if (this->decision().depends_on_requests()) {
      this->use_plans_by_size(
          table_.team(), [this, function, options](const gather_choice& choice) {
            return std::make_unique<plan_dispatch>(table_, function, apply_choice(options, choice));
          });
      return;
    }
    options = apply_choice(options, this->choice());
    operation_.emplace(table_, function, options);
    const auto sizing = [&](std::size_t link_bytes_per_item) {
      return buffer_sizing(table_.team(), options, link_bytes_per_item);
    };
    if (is_asynchronous(options.strategy))
      engine_.emplace(
          sizing(has_several_hops(table_.team(), options) ? 0 : Operation::link_bytes_per_item),
          [this, options](auto& engine, std::size_t buffer_items) mutable {
            options.buffer_items = buffer_items;
            Operation::make_engine(engine, table_, options);
          });
    else if (operation_->uses_exstack())
      exstack_.emplace(sizing(Operation::link_bytes_per_item),
                       [this, options](auto& exstack, std::size_t buffer_items) {
                         exstack.emplace(table_, buffer_items, options.combine);
                       });
  }

  void run(const plan_call<value_type>& call) override {
    if (this->has_plans_by_size()) {
      auto& plan = static_cast<base&>(this->plan_for(call.indices.size()));
      plan.run(call);
      moved_ = plan.moved();
      return;
    }
    exstack_.prepare(call.indices.size());
    engine_.prepare(call.indices.size());
    if (!call.has_one_value && call.values.size() != call.indices.size()) {
      if (exstack_) exstack_->run_as_failed();
      if (engine_) engine_->run_as_failed();
      operation_->run_as_failed();
      throw_size_error(call.operation, table_.team().rank(), call.indices.size(),
                       call.values.size(), Operation::role);
    }
    moved_ = {};
    if (exstack_)
      run_over(*exstack_, call);
    else if (engine_)
      run_over(*engine_, call);
    else
      operation_->run_alone(call, this->decision().all_reachable, moved_);
    moved_.payload_bytes =
        call.has_one_value ? call.indices.size_bytes() : call.values.size_bytes();
  }

 private:
  void run_over(auto& exchange, const plan_call<value_type>& call) {
    const traffic before = exchange.sent();
    operation_->run_over(exchange, call);
    moved_ = exchange.sent() - before;
  }
  [[nodiscard]] exchange_stats strategy_stats() const override {
    return exstack_ ? exstack_.stats() : engine_.stats();
  }

  table_type table_;
  std::optional<Operation> operation_;  // empty if there are plans by size
  sized_exchange<typename Operation::exstack_type> exstack_;
  sized_exchange<typename Operation::engine_type> engine_;
};

}  // namespace longshore::detail
