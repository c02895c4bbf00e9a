// gather_dispatch: the implementation behind gather_plan. The constructor decides on a strategy;
// run() calls that strategy. gather.hpp includes this file at its end.
#pragma once

#include <longshore/gather/detail/agp_gather.hpp>
#include <longshore/gather/detail/buffer_sizing.hpp>
#include <longshore/gather/detail/direct_gather.hpp>
#include <longshore/gather/detail/engine_gather.hpp>
#include <longshore/gather/detail/exstack_gather.hpp>
#include <longshore/gather/detail/tuning/tuning_table.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution>
class gather_dispatch final : public gather_implementation<T> {
  using base = gather_implementation<T>;
  using base::moved_;

 public:
  /// Collective.
  gather_dispatch(const table_view<T, Distribution>& table, gather_options options)
      : base(decide_strategy(table, options)), table_(table), strategy_(base::strategy()) {
    if (this->decision().depends_on_requests()) {
      this->make_plans_by_size(table.team(), [this, options](const gather_choice& choice) {
        return std::make_unique<gather_dispatch>(table_, apply_choice(options, choice));
      });
      return;
    }
    options = apply_choice(options, this->choice());
    // Two slots of requests and two of replies, which an exstack shares.
    constexpr std::size_t link_bytes_per_item = 2 * (sizeof(std::uint32_t) + sizeof(T));
    if (strategy_ == gather_strategy::exstack)
      exstack_.emplace(buffer_sizing(table_.team(), options, link_bytes_per_item),
                       [this, options](auto& exchange, std::size_t buffer_items) {
                         exchange.emplace(table_, buffer_items, options.combine);
                       });
    if (is_asynchronous(strategy_))
      engine_.emplace(
          buffer_sizing(
              table_.team(), options,
              has_several_hops(table_.team(), strategy_, options) ? 0 : link_bytes_per_item),
          [this, options](auto& exchange, std::size_t buffer_items) mutable {
            options.buffer_items = buffer_items;
            exchange.emplace(table_, strategy_, options);
          });
    if (strategy_ == gather_strategy::direct) direct_.emplace(table_);
    cache_share_bytes_ =
        last_level_cache_bytes() / static_cast<std::size_t>(table.team().nodes().my_rank_count());
  }

  void run(std::span<const std::int64_t> indices, std::span<T> out) override {
    if (this->has_plans_by_size())
      return this->template with_plan_for<base>(indices.size(),
                                                [&](base& plan) { plan.run(indices, out); });
    exstack_.prepare(indices.size());
    engine_.prepare(indices.size());
    if (out.size() != indices.size()) {
      if (exstack_) exstack_->run_as_failed();
      if (engine_) engine_->run_as_failed();
      throw_size_error("gather", table_.team().rank(), indices.size(), out.size(),
                       values_role::output);
    }
    moved_ = {};
    const auto gather = [&](auto& engine) { engine(indices, out); };
    switch (strategy_) {
      case gather_strategy::agp:
        table_.team().charge("agp_accesses", indices.size());
        gather_agp(table_, indices, out, moved_);
        break;
      case gather_strategy::exstack: moved_ = traffic_of(*exstack_, gather); break;
      case gather_strategy::direct: {
        table_.team().charge("table_accesses", indices.size());
        const bool streaming = out.size_bytes() >= cache_share_bytes_;
        (*direct_)(indices, out, streaming);
        break;
      }
      default: moved_ = traffic_of(*engine_, gather); break;
    }
    moved_.payload_bytes = out.size_bytes();
  }

 private:
  static gather_decision decide_strategy(const table_view<T, Distribution>& table,
                                         const gather_options& options) {
    const auto call = [](gather_dispatch& plan, auto indices, auto values) {
      plan.run(indices, values);
    };
    return detail::decide_strategy(table.team(), inputs_for("gather", table, why_not), options,
                                   prepare_plans<gather_dispatch>(table, options, call));
  }
  [[nodiscard]] exchange_stats strategy_stats() const override {
    return stats_of(exstack_, engine_);
  }

  table_view<T, Distribution> table_;
  gather_strategy strategy_;
  sized_exchange<exstack_gather<T, Distribution>> exstack_;
  sized_exchange<engine_gather<T, Distribution>> engine_;
  std::optional<direct_gather<T, Distribution>> direct_;
  std::size_t cache_share_bytes_ = 0;  // this rank's share of the last-level cache
};

template <trivially_copyable T, distribution Distribution>
std::unique_ptr<gather_implementation<T>> plan_gather(const table_view<T, Distribution>& table,
                                                      const gather_options& options) {
  return std::make_unique<gather_dispatch<T, Distribution>>(table, options);
}

}  // namespace longshore::detail
