// What a gather_plan is inside. Included by gather.hpp, below what users see.
#pragma once

#include <longshore/gather/detail/agp.hpp>
#include <longshore/gather/detail/direct.hpp>
#include <longshore/gather/detail/engine_gather.hpp>
#include <longshore/gather/detail/exstack.hpp>
#include <longshore/gather/detail/tuning_table.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/machine/memory.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution>
class gather_by_strategy final : public planned_gather<T> {
  using base = planned_gather<T>;
  using base::moved_;

 public:
  gather_by_strategy(const table_parts<T, Distribution>& table, gather_options options)
      : base(decide(table, options)), table_(table), strategy_(base::strategy()) {
    if (this->decision().depends_on_requests()) {
      this->plan_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<gather_by_strategy>(table_, with_choice(options, choice));
      });
      return;
    }
    options = with_choice(options, this->choice());
    if (strategy_ == gather_strategy::exstack)
      exstack_.emplace(table_, options.buffer_items, options.combine);
    if (is_asynchronous(strategy_)) engine_.emplace(table_, strategy_, options);
    if (strategy_ == gather_strategy::direct) direct_.emplace(table_);
    cache_bytes_ =
        last_level_cache_bytes() / static_cast<std::size_t>(table.team().nodes().my_rank_count());
  }

  void run(std::span<const std::int64_t> indices, std::span<T> out) override {
    if (this->is_by_size())
      return this->template run_by_size<base>(indices.size(),
                                              [&](base& plan) { plan.run(indices, out); });
    if (out.size() != indices.size()) {
      if (exstack_) exstack_->refuse();
      if (engine_) engine_->refuse();
      refuse_sizes("gather", table_.team().rank(), indices.size(), out.size(), true);
    }
    moved_ = {};
    const auto gather = [&](auto& engine) { engine(indices, out); };
    switch (strategy_) {
      case gather_strategy::agp: gather_agp(table_, indices, out, moved_); break;
      case gather_strategy::exstack: moved_ = traffic_of(*exstack_, gather); break;
      case gather_strategy::direct:
        (*direct_)(indices, out, out.size_bytes() >= cache_bytes_);
        break;
      default: moved_ = traffic_of(*engine_, gather); break;
    }
    moved_.payload_bytes = out.size_bytes();
  }

 private:
  static gather_decision decide(const table_parts<T, Distribution>& table,
                                const gather_options& options) {
    return detail::decide(
        table.team(),
        {"gather", "gather", sizeof(T), table.size(), table.map().largest_local_size(),
         table.is_all_direct(), why_not},
        options,
        tuning_like(
            table,
            [options](const table_parts<T, Distribution>& with, const gather_choice& choice) {
              return std::make_unique<gather_by_strategy>(with, with_choice(options, choice));
            },
            [](gather_by_strategy& plan, auto indices, auto values) {
              plan.run(indices, values);
            }));
  }
  [[nodiscard]] exchange_report report() const override { return report_of(exstack_, engine_); }

  table_parts<T, Distribution> table_;
  gather_strategy strategy_;
  std::optional<exstack_gather<T, Distribution>> exstack_;
  std::optional<engine_gather<T, Distribution>> engine_;
  std::optional<direct_gather<T, Distribution>> direct_;
  std::size_t cache_bytes_ = 0;  // this rank's share of the last level
};

template <trivially_copyable T, distribution Distribution>
std::unique_ptr<planned_gather<T>> plan_gather(const table_parts<T, Distribution>& table,
                                               const gather_options& options) {
  return std::make_unique<gather_by_strategy<T, Distribution>>(table, options);
}

}  // namespace longshore::detail
