// scatter_dispatch: the implementation behind scatter_plan. The constructor decides on a strategy;
// run() calls that strategy. scatter.hpp includes this file at its end.
#pragma once

#include <longshore/gather/detail/agp_requests.hpp>
#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/detail/direct_scatter.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>
#include <longshore/gather/scatter.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution>
class scatter_dispatch final : public scatter_implementation<T> {
  using base = scatter_implementation<T>;
  using base::moved_;

 public:
  /// Collective.
  scatter_dispatch(const table_view<T, Distribution>& table, scatter_options options)
      : base(decide_strategy(table, options)), table_(table), strategy_(base::strategy()) {
    if (this->decision().depends_on_requests()) {
      this->make_plans_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<scatter_dispatch>(table_, apply_choice(options, choice));
      });
      return;
    }
    options = apply_choice(options, this->choice());
    constexpr std::size_t link_bytes_per_item = request_slots * (sizeof(std::uint32_t) + sizeof(T));
    if (is_asynchronous(strategy_))
      engine_.emplace(
          buffer_sizing(
              table_.team(), options,
              has_several_hops(table_.team(), strategy_, options) ? 0 : link_bytes_per_item),
          [this, options](auto& exchange, std::size_t buffer_items) mutable {
            options.buffer_items = buffer_items;
            // false: a scatter has no requests without values
            exchange.emplace(table_, strategy_, options, false);
          });
    else if (strategy_ != gather_strategy::agp && !scatters_by_stores<T>(strategy_))
      exstack_.emplace(buffer_sizing(table_.team(), options, link_bytes_per_item),
                       [this, options](auto& exchange, std::size_t buffer_items) {
                         exchange.emplace(table_, buffer_items, options.combine);
                       });
  }

  void run(std::span<const std::int64_t> indices, std::span<const T> values) override {
    if (this->has_plans_by_size())
      return this->template with_plan_for<base>(indices.size(),
                                                [&](base& plan) { plan.run(indices, values); });
    exstack_.prepare(indices.size());
    engine_.prepare(indices.size());
    if (values.size() != indices.size()) {
      if (exstack_) exstack_->run_as_failed();
      if (engine_) engine_->run_as_failed();
      throw_size_error("scatter", table_.team().rank(), indices.size(), values.size());
    }
    moved_ = {};
    const store_request<T> request{values.data(), table_.local().data()};
    const auto scatter = [&](auto& engine) { engine.run("scatter", indices, request); };
    if (exstack_) {
      moved_ = traffic_of(*exstack_, scatter);
    } else if (engine_) {
      moved_ = traffic_of(*engine_, scatter);
    } else if constexpr (is_one_word<T>) {
      const bool is_agp = strategy_ == gather_strategy::agp;
      table_.team().charge(is_agp ? "agp_accesses" : "table_accesses", indices.size());
      if (is_agp)
        scatter_agp("scatter", table_, indices, values, moved_);
      else
        scatter_direct("scatter", table_, indices, values);
    }
    moved_.payload_bytes = values.size_bytes();
  }

 private:
  static gather_decision decide_strategy(const table_view<T, Distribution>& table,
                                         const scatter_options& options) {
    const auto why_not = [](gather_strategy strategy, bool all_reachable) {
      return why_not_scatter(strategy, all_reachable, sizeof(T));
    };
    const auto call = [](scatter_dispatch& plan, auto indices, auto values) {
      plan.run(indices, values);
    };
    return detail::decide_strategy(table.team(), inputs_for("scatter", table, why_not), options,
                                   prepare_plans<scatter_dispatch>(table, options, call));
  }
  [[nodiscard]] exchange_stats strategy_stats() const override {
    return stats_of(exstack_, engine_);
  }

  table_view<T, Distribution> table_;
  gather_strategy strategy_;
  sized_exchange<exstack_requests<T, Distribution>> exstack_;
  sized_exchange<engine_requests<T, Distribution>> engine_;
};

template <trivially_copyable T, distribution Distribution>
std::unique_ptr<scatter_implementation<T>> plan_scatter(const table_view<T, Distribution>& table,
                                                        const scatter_options& options) {
  return std::make_unique<scatter_dispatch<T, Distribution>>(table, options);
}

}  // namespace longshore::detail
