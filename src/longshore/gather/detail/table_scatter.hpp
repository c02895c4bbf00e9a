// table_scatter: scatter as an operation of plan_dispatch.
#pragma once

#include <longshore/gather/detail/agp.hpp>
#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/plan_dispatch.hpp>

namespace longshore::detail {

/// Local. Strategy direct: table[indices[i]] = values[i], by stores to the memory of every rank,
/// without messages. REQUIRES: `indices` and `values` have equal sizes; table.is_all_direct().
/// Throws errc::usage for an index out of range; part of the table is then written. Cost per
/// element: reads of 8 bytes (index) and of sizeof(T) bytes (value), and one store.
template <trivially_copyable T, distribution Distribution>
requires is_one_word<T>
void scatter_direct(const char* operation, const table_view<T, Distribution>& table,
                    std::span<const std::int64_t> indices, std::span<const T> values) {
  T* const* parts = table.direct_parts().data();
  const T* const from = values.data();
  const std::size_t stored = table.map().with_locator([&](auto locate) {
    return for_each_in_range(indices, table.size(), [=](std::size_t i, std::uint64_t index) {
      const location at = locate(index);
      store_atomically(parts[at.rank] + at.offset, from[i]);
    });
  });
  if (stored < indices.size())
    throw_index_error(operation, indices, table.size(), table.team().rank());
}

template <trivially_copyable T, distribution Distribution>
class table_scatter {
 public:
  using element = T;
  using value_type = const T;
  using table_type = table_view<T, Distribution>;
  using function_type = no_function;
  using exstack_type = exstack_requests<T, Distribution>;
  using engine_type = engine_requests<T, Distribution, false>;
  static constexpr std::size_t link_bytes_per_item =
      request_slots * (sizeof(std::uint32_t) + sizeof(T));
  static constexpr bool measures_one_value = false;

  static decision_inputs inputs(const table_type& table, no_function) {
    return inputs_for("scatter", table, [](gather_strategy strategy, bool all_reachable) {
      return why_not_scatter(strategy, all_reachable, sizeof(T));
    });
  }

  table_scatter(const table_type& table, no_function, const scatter_options& options)
      : table_(table), strategy_(options.strategy) {}
  /// Strategy direct stores elements of one word only, because two ranks could mix the words of a
  /// larger element. Larger elements are sent to their owners through exstack in shared memory.
  [[nodiscard]] bool uses_exstack() const {
    return strategy_ == gather_strategy::exstack ||
           (strategy_ == gather_strategy::direct && !is_one_word<T>);
  }

  void run_over(auto& exchange, const plan_call<const T>& call) {
    exchange.run(call.operation, call.indices,
                 store_request<T>{call.values.data(), table_.local().data()});
  }
  void run_alone(const plan_call<const T>& call, bool, traffic& moved) {
    if constexpr (is_one_word<T>) {
      const bool is_agp = strategy_ == gather_strategy::agp;
      table_.team().charge(is_agp ? "agp_accesses" : "table_accesses", call.indices.size());
      if (is_agp)
        scatter_agp(call.operation, table_, call.indices, call.values, moved);
      else
        scatter_direct(call.operation, table_, call.indices, call.values);
    }
  }

 private:
  const table_type& table_;
  gather_strategy strategy_;
};

/// Collective. Makes the object to which a scatter_plan forwards its calls.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<table_plan<const T>> plan_scatter(
    const table_view<T, Distribution>& table, const scatter_options& options) {
  return std::make_unique<plan_dispatch<table_scatter<T, Distribution>>>(table, no_function{},
                                                                         options);
}

// The library contains these two functions, for elements of 4 and of 8 bytes.
extern template std::unique_ptr<table_plan<const word32>> plan_scatter(
    const table_view<word32, any_distribution>&, const scatter_options&);
extern template std::unique_ptr<table_plan<const word64>> plan_scatter(
    const table_view<word64, any_distribution>&, const scatter_options&);

}  // namespace longshore::detail
