// table_update: updates as an operation of plan_dispatch.
#pragma once

#include <longshore/core/detail/type_name.hpp>
#include <longshore/gather/detail/agp.hpp>
#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/engine_requests.hpp>
#include <longshore/gather/detail/exstack_requests.hpp>
#include <longshore/gather/detail/plan_dispatch.hpp>
#include <longshore/gather/detail/update_by_private_copies.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/detail/is_same_on_all_ranks.hpp>

#include <optional>
#include <type_traits>

namespace longshore::detail {

template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
class table_update {
  using copies = update_by_private_copies<T, Distribution, Op>;

 public:
  using element = T;
  using value_type = const T;
  using table_type = table_view<T, Distribution>;
  using function_type = Op;
  using exstack_type = exstack_requests<T, Distribution>;
  using engine_type = engine_requests<T, Distribution, true>;
  static constexpr std::size_t link_bytes_per_item =
      request_slots * (sizeof(std::uint32_t) + sizeof(T));
  static constexpr bool measures_one_value = true;

  static decision_inputs inputs(const table_type& table, const Op& op) {
    decision_inputs inputs =
        inputs_for("update", table, [](gather_strategy strategy, bool all_reachable) {
          return why_not_update(strategy, all_reachable, sizeof(T), is_fetch_add<T, Op>);
        });
    if constexpr (requires { std::string_view(op.name()); })
      inputs.function = op.name();
    else
      inputs.function = type_name<Op>();
    // Ranks that reach all memory are on one host and share its last-level cache.
    if (inputs.all_direct && copies_fit(table)) inputs.measured_operation = "update-copies";
    return inputs;
  }

  /// Collective.
  table_update(const table_type& table, const Op& op, const update_options& options)
      : table_(table), op_(op), strategy_(options.strategy), combine_(options.combine) {
    if constexpr (has_identity<Op, T>)
      if (strategy_ == gather_strategy::direct && copies_fit(table)) copies_.emplace(table, op);
  }
  /// Strategy direct with a large table uses exstack, too: owners that apply requests from shared
  /// buffers are faster than atomic operations.
  [[nodiscard]] bool uses_exstack() const { return strategy_ != gather_strategy::agp && !copies_; }

  template <class Exchange>
  void run_over(Exchange& exchange, const plan_call<const T>& call) {
    const auto run = [&](const auto& request) {
      exchange.run(call.operation, call.indices, request);
    };
    T* const local_part = table_.local().data();
    if (call.has_one_value && !combine_ &&
        (std::is_same_v<Exchange, exstack_type> ||
         is_same_on_all_ranks(table_.team(), call.values.front())))
      run(constant_amount_request<T, Op>{call.values.front(), local_part, op_});
    else
      run(update_request<T, Op>{update_values<T>(call.values.data(), call.has_one_value),
                                local_part, op_});
  }
  void run_alone(const plan_call<const T>& call, bool all_reachable, traffic& moved) {
    const T* const values = call.values.data();
    if (call.has_one_value)
      run_alone(
          call, [amount = *values](std::size_t) { return amount; }, all_reachable, moved);
    else
      run_alone(
          call, [values](std::size_t i) { return values[i]; }, all_reachable, moved);
  }

 private:
  static bool copies_fit(const table_type& table) {
    return has_identity<Op, T> && copies::fit(table, last_level_cache_bytes());
  }

  template <class ValueOf>
  void run_alone(const plan_call<const T>& call, ValueOf value_of, bool all_reachable,
                 traffic& moved) {
    if constexpr (has_identity<Op, T>)
      if (copies_) {
        table_.team().charge("private_updates", call.indices.size());
        return copies_->run(call.operation, call.indices, value_of);
      }
    if constexpr (is_one_word<T>) {
      table_.team().charge("table_updates", call.indices.size());
      update_agp(call.operation, table_, call.indices, value_of, op_, all_reachable, moved);
    }
  }

  const table_type& table_;
  Op op_;
  gather_strategy strategy_;
  bool combine_;
  std::optional<copies> copies_;
};

/// Collective. Makes the object to which an update_plan forwards its calls.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
[[nodiscard]] std::unique_ptr<table_plan<const T>> plan_update(
    const table_view<T, Distribution>& table, const Op& op, const update_options& options) {
  return std::make_unique<plan_dispatch<table_update<T, Distribution, Op>>>(table, op, options);
}

// The library has compiled the loops for additions to these types.
extern template std::unique_ptr<table_plan<const float>> plan_update(
    const table_view<float, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<table_plan<const double>> plan_update(
    const table_view<double, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<table_plan<const std::uint32_t>> plan_update(
    const table_view<std::uint32_t, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<table_plan<const std::uint64_t>> plan_update(
    const table_view<std::uint64_t, any_distribution>&, const op::add&, const update_options&);

}  // namespace longshore::detail
