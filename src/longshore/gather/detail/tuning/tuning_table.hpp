// The table, requests and plans of strategy auto's measurements. The table has the element type and
// the distribution of the user's table.
#pragma once

#include <longshore/array/dist_array.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/detail/tuning/decide_strategy.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/agree_on_errors.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace longshore::detail {

/// The inputs of decide_strategy for a plan of `table`.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] decision_inputs inputs_for(const char* operation,
                                         const table_view<T, Distribution>& table,
                                         why_not_function why_not) {
  return {.operation = operation,
          .measured_operation = operation,
          .function = {},
          .element_bytes = sizeof(T),
          .table_items = table.size(),
          .largest_part_items = table.map().largest_local_size(),
          .all_direct = table.is_all_direct(),
          .why_not = why_not};
}

template <class Distribution>
[[nodiscard]] Distribution distribution_of(const typename Distribution::map& map) {
  if constexpr (requires { Distribution{map.block_items()}; })
    return Distribution{map.block_items()};
  else
    return {};
}

/// Elements and values are zeros; indices are random and uniform over the table.
template <trivially_copyable T, distribution Distribution>
class tuning_table {
 public:
  /// Collective. Throws errc::out_of_memory on all ranks. REQUIRES: size.table_items > 0.
  tuning_table(const auto& users_table, const tuning_size& size)
      : table(users_table.team(), size.table_items,
              distribution_of<Distribution>(users_table.map())) {
    constexpr bool huge_pages = true;
    agree_on_errors(table.team(), "measuring for strategy auto", [&] {
      indices_memory_ = pages(size.requests * sizeof(std::int64_t), huge_pages);
      values_memory_ = pages(size.requests * sizeof(T), huge_pages);
    });
    const auto local_part = std::as_writable_bytes(table.local());
    if (!local_part.empty()) std::memset(local_part.data(), 0, local_part.size());
    std::memset(values_memory_.data(), 0, size.requests * sizeof(T));
    random_stream random(seed, static_cast<std::uint64_t>(table.team().rank()));
    for (std::size_t i = 0; i < size.requests; ++i)
      all_indices()[i] = static_cast<std::int64_t>(random.below(table.size()));
    table.team().barrier();
    touch_parts();
  }

  [[nodiscard]] std::span<const std::int64_t> indices(std::size_t count) const {
    return {all_indices(), count};
  }
  [[nodiscard]] std::span<T> values(std::size_t count) const {
    return {reinterpret_cast<T*>(values_memory_.data()), count};
  }

  dist_array<T, Distribution> table;

 private:
  static constexpr std::uint64_t seed = 122'222;
  [[nodiscard]] std::int64_t* all_indices() const {
    return reinterpret_cast<std::int64_t*>(indices_memory_.data());
  }
  // Reads from each page of the parts that this rank can reach. Otherwise the first candidate that
  // accesses other parts would wait for the system to map their pages, and be dropped as slow.
  void touch_parts() const {
    constexpr std::size_t page_bytes = 4096;
    const segment& memory = table.segment();
    for (int rank = 0; rank < table.team().size(); ++rank)
      if (const volatile std::byte* const part = memory.direct(rank))
        for (std::size_t at = 0; at < memory.size_bytes(); at += page_bytes)
          static_cast<void>(part[at]);
  }
  pages indices_memory_, values_memory_;
};

/// Prepares measurements with objects of type Plan, which are made from a table, `function` and
/// options (plan_dispatch). `users_table` must outlive the returned function.
template <class Plan, class Operation>
[[nodiscard]] prepare_candidates prepare_plans(const typename Operation::table_type& users_table,
                                               const typename Operation::function_type& function,
                                               const gather_options& options) {
  using tuning_type =
      tuning_table<typename Operation::element, typename Operation::table_type::distribution_type>;
  struct candidate {
    candidate(std::shared_ptr<tuning_type> tuning,
              const typename Operation::function_type& function, const gather_options& options)
        : data(std::move(tuning)),
          plan(typename Operation::table_type(data->table), function, options) {}
    std::shared_ptr<tuning_type> data;  // freed after the plan
    Plan plan;
  };
  return [=, &users_table](const tuning_size& size) -> make_candidate {
    return [=, data = std::make_shared<tuning_type>(users_table, size)](
               const gather_choice& choice) -> run_candidate {
      const auto prepared =
          std::make_shared<candidate>(data, function, apply_choice(options, choice));
      return [prepared](std::size_t requests) {
        constexpr bool has_one_value = Operation::measures_one_value;
        prepared->plan.run({"measuring", prepared->data->indices(requests),
                            prepared->data->values(has_one_value ? 1 : requests), has_one_value});
      };
    };
  };
}

}  // namespace longshore::detail
