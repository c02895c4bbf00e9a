// gather_dispatch: the implementation behind gather_plan. It decides on a strategy and calls it.
// gather.hpp includes this file at its end.
#pragma once

#include <longshore/gather/detail/agp_gather.hpp>
#include <longshore/gather/detail/direct_gather.hpp>
#include <longshore/gather/detail/engine_gather.hpp>
#include <longshore/gather/detail/exstack_gather.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/machine/memory.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution>
class gather_dispatch final : public gather_plan_base<T> {
  using base = gather_plan_base<T>;
  using base::moved_;

 public:
  gather_dispatch(const table_view<T, Distribution>& table, gather_options options)
      : base(decide_strategy(table, options)), table_(table), strategy_(base::strategy()) {
    if (this->decision().depends_on_requests()) {
      this->plan_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<gather_dispatch>(table_, apply_choice(options, choice));
      });
      return;
    }
    options = apply_choice(options, this->choice());
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
      if (exstack_) exstack_->fail_use();
      if (engine_) engine_->fail_use();
      throw_size_error("gather", table_.team().rank(), indices.size(), out.size(), true);
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
  static gather_decision decide_strategy(const table_view<T, Distribution>& table,
                                         const gather_options& options) {
    return detail::decide_strategy(
        table.team(),
        {"gather", "gather", sizeof(T), table.size(), table.map().largest_local_size(),
         table.is_all_direct(), why_not},
        options,
        prepare_like(
            table,
            [options](const table_view<T, Distribution>& with, const gather_choice& choice) {
              return std::make_unique<gather_dispatch>(with, apply_choice(options, choice));
            },
            [](gather_dispatch& plan, auto indices, auto values) { plan.run(indices, values); }));
  }
  [[nodiscard]] exchange_stats strategy_stats() const override {
    return stats_of(exstack_, engine_);
  }

  table_view<T, Distribution> table_;
  gather_strategy strategy_;
  std::optional<exstack_gather<T, Distribution>> exstack_;
  std::optional<engine_gather<T, Distribution>> engine_;
  std::optional<direct_gather<T, Distribution>> direct_;
  std::size_t cache_bytes_ = 0;  // this rank's share of the last-level cache
};

template <trivially_copyable T, distribution Distribution>
std::unique_ptr<gather_plan_base<T>> plan_gather(const table_view<T, Distribution>& table,
                                                 const gather_options& options) {
  return std::make_unique<gather_dispatch<T, Distribution>>(table, options);
}

}  // namespace longshore::detail
