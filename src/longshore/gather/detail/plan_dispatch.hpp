// plan_dispatch: the implementation behind gather_plan, scatter_plan and update_plan. The
// constructor decides on a strategy; run() calls that strategy.
//
// An Operation, such as table_gather, has
//   element, table_type, value_type, function_type
//       of elements; table_view<T, Distribution>; T or const T; and the function of an update
//   exstack_type, engine_type    the exchanges of strategies that aggregate
//   link_bytes_per_item, measures_one_value           constants
//   inputs(table, function)      the inputs of decide_strategy()
//   Operation(table, function, options)    makes what a strategy without an exchange needs
//   uses_exstack()               whether the strategy, which has no engine, has an exstack
//   run_over(exchange, call)     runs a call over an exstack or an engine
//   run_alone(call, all_reachable, moved)    runs a call of another strategy; counts the traffic
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/table_plan.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>

#include <array>
#include <memory>
#include <optional>
#include <type_traits>

namespace longshore::detail {

struct no_function {};

template <class Operation>
class plan_dispatch final : public table_plan<typename Operation::value_type> {
  using value_type = typename Operation::value_type;
  using table_type = typename Operation::table_type;
  using function_type = typename Operation::function_type;
  using base = table_plan<value_type>;
  using base::agreement_, base::decision_, base::moved_;

 public:
  /// Collective.
  plan_dispatch(const table_type& table, const function_type& function, gather_options options)
      : base(decide_strategy(table.team(), Operation::inputs(table, function), options,
                             prepare_plans<plan_dispatch, Operation>(table, function, options))),
        table_(table),
        function_(function),
        options_(options) {
    if (decision_.depends_on_requests()) {
      agreement_.emplace(table_.team());
      return;
    }
    options = apply_choice(options, this->choice());
    operation_.emplace(table_, function, options);
    const auto sizing = [&](std::size_t link_bytes_per_item) {
      return buffer_sizing(table_.team(), options, link_bytes_per_item);
    };
    if (is_asynchronous(options.strategy)) {
      // An engine of several hops has buffers for few links, and not for each rank.
      const bool has_rank_buffers = engine_options_for(table_.team(), options).hops == 1;
      engine_.emplace(sizing(has_rank_buffers ? Operation::link_bytes_per_item : 0),
                      [this, options](auto& engine, std::size_t buffer_items) mutable {
                        options.buffer_items = buffer_items;
                        engine.emplace(table_, options);
                      });
    } else if (operation_->uses_exstack())
      exstack_.emplace(sizing(Operation::link_bytes_per_item),
                       [this, options](auto& exstack, std::size_t buffer_items) {
                         exstack.emplace(table_, buffer_items, options.combine);
                       });
  }

  void run(const plan_call<value_type>& call) override {
    if (agreement_) {
      plan_dispatch& plan = plan_for(call.indices.size());
      plan.run(call);
      moved_ = plan.moved();
      return;
    }
    exstack_.prepare(call.indices.size());
    engine_.prepare(call.indices.size());
    moved_ = {};
    if (!call.has_one_value && call.values.size() != call.indices.size()) {
      // The other ranks of this call fail as they do for an index outside of the table.
      constexpr std::int64_t outside[] = {-1};
      try {
        run_strategy({call.operation, outside, call.values});
      } catch (const error& e) {
        if (e.code() != errc::usage) throw;
      }
      throw_size_error(call.operation, table_.team(), call.indices.size(), call.values.size(),
                       std::is_const_v<value_type> ? "" : "room for ");
    }
    run_strategy(call);
    moved_.payload_bytes =
        call.has_one_value ? call.indices.size_bytes() : call.values.size_bytes();
  }

  [[nodiscard]] exchange_stats stats() const override {
    exchange_stats sum = exstack_ ? exstack_.stats() : engine_.stats();
    for (const auto& plan : plans_)
      if (plan) sum += plan->stats();
    return sum;
  }

 private:
  // Collective. The plan for a call with this number of requests. Classes with equal choices share
  // the plan of the first of these classes, which the first call that uses it makes.
  plan_dispatch& plan_for(std::size_t requests) {
    const auto& choices = decision_.by_size;
    const gather_choice& choice = choices[agreement_->class_of_call(requests)];
    std::size_t first = 0;
    while (choices[first] != choice) ++first;
    if (!plans_[first])
      plans_[first] =
          std::make_unique<plan_dispatch>(table_, function_, apply_choice(options_, choice));
    return *plans_[first];
  }
  void run_strategy(const plan_call<value_type>& call) {
    if (exstack_)
      run_over(*exstack_, call);
    else if (engine_)
      run_over(*engine_, call);
    else
      operation_->run_alone(call, decision_.all_reachable, moved_);
  }
  void run_over(auto& exchange, const plan_call<value_type>& call) {
    const traffic before = exchange.sent();
    operation_->run_over(exchange, call);
    moved_ = exchange.sent() - before;
  }

  table_type table_;
  function_type function_;
  gather_options options_;
  std::array<std::unique_ptr<plan_dispatch>, request_classes> plans_;  // only with agreement_
  std::optional<Operation> operation_;                                 // only without
  sized_exchange<typename Operation::exstack_type> exstack_;
  sized_exchange<typename Operation::engine_type> engine_;
};

}  // namespace longshore::detail
