// table_gather: gather as an operation of plan_dispatch.
#pragma once

#include <longshore/gather/detail/agp.hpp>
#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/direct_gather.hpp>
#include <longshore/gather/detail/engine_gather.hpp>
#include <longshore/gather/detail/exstack_gather.hpp>
#include <longshore/gather/detail/plan_dispatch.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <optional>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution>
class table_gather {
 public:
  using element = T;
  using value_type = T;
  using table_type = table_view<T, Distribution>;
  using function_type = no_function;
  using exstack_type = exstack_gather<T, Distribution>;
  using engine_type = engine_gather<T, Distribution>;
  // Two slots of requests and two of replies, which an exstack shares.
  static constexpr std::size_t link_bytes_per_item = 2 * (sizeof(std::uint32_t) + sizeof(T));
  static constexpr bool measures_one_value = false;

  static decision_inputs inputs(const table_type& table, no_function) {
    return inputs_for("gather", table, why_not);
  }

  table_gather(const table_type& table, no_function, const gather_options& options)
      : table_(table), strategy_(options.strategy) {
    if (strategy_ == gather_strategy::direct) direct_.emplace(table);
    cache_share_bytes_ = last_level_cache_bytes() /
                         static_cast<std::size_t>(table.team().nodes().ranks_on_my_node());
  }
  [[nodiscard]] bool uses_exstack() const { return strategy_ == gather_strategy::exstack; }

  void run_over(auto& exchange, const plan_call<T>& call) { exchange(call.indices, call.values); }
  void run_alone(const plan_call<T>& call, bool, traffic& moved) {
    if (!direct_) {
      table_.team().charge("agp_accesses", call.indices.size());
      return gather_agp(table_, call.indices, call.values, moved);
    }
    table_.team().charge("table_accesses", call.indices.size());
    const bool streaming = call.values.size_bytes() >= cache_share_bytes_;
    (*direct_)(call.indices, call.values, streaming);
  }

 private:
  const table_type& table_;
  gather_strategy strategy_;
  std::optional<direct_gather<T, Distribution>> direct_;
  std::size_t cache_share_bytes_ = 0;  // this rank's share of the last-level cache
};

/// Collective. Decides the strategy, and makes the object to which a gather_plan forwards its
/// calls.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<table_plan<T>> plan_gather(const table_view<T, Distribution>& table,
                                                         const gather_options& options) {
  return std::make_unique<plan_dispatch<table_gather<T, Distribution>>>(table, no_function{},
                                                                        options);
}

// The library contains these two functions, for elements of 4 and of 8 bytes, so programs do not
// compile them again.
extern template std::unique_ptr<table_plan<word32>> plan_gather(
    const table_view<word32, any_distribution>&, const gather_options&);
extern template std::unique_ptr<table_plan<word64>> plan_gather(
    const table_view<word64, any_distribution>&, const gather_options&);

}  // namespace longshore::detail
