// What a scatter_plan is inside. Included by scatter.hpp, below what users see.
#pragma once

#include <longshore/gather/detail/agp_requests.hpp>
#include <longshore/gather/detail/direct_scatter.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/tuning_table.hpp>
#include <longshore/gather/scatter.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution>
class scatter_by_strategy final : public planned_scatter<T> {
  using base = planned_scatter<T>;
  using base::moved_;

 public:
  scatter_by_strategy(const table_parts<T, Distribution>& table, scatter_options options)
      : base(decide(table, options)), table_(table), strategy_(base::strategy()) {
    if (this->decision().depends_on_requests()) {
      this->plan_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<scatter_by_strategy>(table_, with_choice(options, choice));
      });
      return;
    }
    options = with_choice(options, this->choice());
    const bool stores = strategy_ == gather_strategy::agp || scatters_by_stores<T>(strategy_);
    if (is_asynchronous(strategy_))
      engine_.emplace(table_, strategy_, options, false);
    else if (!stores)
      exstack_.emplace(table_, options.buffer_items, true, options.combine);
  }

  void run(std::span<const std::int64_t> indices, std::span<const T> values) override {
    if (this->is_by_size())
      return this->template run_by_size<base>(indices.size(),
                                              [&](base& plan) { plan.run(indices, values); });
    if (values.size() != indices.size()) {
      if (exstack_) exstack_->refuse();
      if (engine_) engine_->refuse();
      refuse_sizes("scatter", table_.team().rank(), indices.size(), values.size());
    }
    moved_ = {};
    const store_request<T> request{values.data(), table_.local().data()};
    const auto scatter = [&](auto& engine) { engine.run("scatter", indices, request); };
    if (exstack_) {
      moved_ = traffic_of(*exstack_, scatter);
    } else if (engine_) {
      moved_ = traffic_of(*engine_, scatter);
    } else if constexpr (is_one_word<T>) {
      if (strategy_ == gather_strategy::agp)
        scatter_agp("scatter", table_, indices, values, moved_);
      else
        scatter_direct("scatter", table_, indices, values);
    }
    moved_.payload_bytes = values.size_bytes();
  }

 private:
  static gather_decision decide(const table_parts<T, Distribution>& table,
                                const scatter_options& options) {
    const auto why_not = [](gather_strategy strategy, bool all_reachable) {
      return why_not_scatter(strategy, all_reachable, sizeof(T));
    };
    return detail::decide(
        table.team(),
        {"scatter", "scatter", sizeof(T), table.size(), table.map().largest_local_size(),
         table.is_all_direct(), why_not},
        options,
        tuning_like(
            table,
            [options](const table_parts<T, Distribution>& with, const gather_choice& choice) {
              return std::make_unique<scatter_by_strategy>(with, with_choice(options, choice));
            },
            [](scatter_by_strategy& plan, auto indices, auto values) {
              plan.run(indices, values);
            }));
  }
  [[nodiscard]] exchange_report report() const override { return report_of(exstack_, engine_); }

  table_parts<T, Distribution> table_;
  gather_strategy strategy_;
  std::optional<exstack_requests<T, Distribution>> exstack_;
  std::optional<engine_requests<T, Distribution>> engine_;
};

template <trivially_copyable T, distribution Distribution>
std::unique_ptr<planned_scatter<T>> plan_scatter(const table_parts<T, Distribution>& table,
                                                 const scatter_options& options) {
  return std::make_unique<scatter_by_strategy<T, Distribution>>(table, options);
}

}  // namespace longshore::detail
