// The table and the requests that strategy auto measures with. The table is of the same kind as the
// user's table, which is not touched.
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
  /// Collective. `like` has the team and the map of the user's table. Throws errc::out_of_memory on
  /// all ranks. REQUIRES: size.table_items > 0.
  tuning_table(const auto& like, const tuning_size& size)
      : table(like.team(), size.table_items, distribution_of<Distribution>(like.map())) {
    agree_on_errors(like.team(), "measuring for strategy auto", [&] {
      indices_memory_ = pages(size.requests * sizeof(std::int64_t), true);
      values_memory_ = pages(size.requests * sizeof(T), true);
    });
    const auto mine = std::as_writable_bytes(table.local());
    if (!mine.empty()) std::memset(mine.data(), 0, mine.size());
    std::memset(values_memory_.data(), 0, size.requests * sizeof(T));
    random_stream random(seed, static_cast<std::uint64_t>(like.team().rank()));
    for (std::size_t i = 0; i < size.requests; ++i)
      all_indices()[i] = static_cast<std::int64_t>(random.below(table.size()));
    table.team().barrier();
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
  pages indices_memory_, values_memory_;
};

/// Prepares measurements with plans: make(table, choice) returns a pointer to a plan, and
/// call(plan, indices, values) uses it. `like` must outlive the result.
template <trivially_copyable T, distribution Distribution, class Make, class Call>
[[nodiscard]] prepare_candidates prepare_like(const table_view<T, Distribution>& like, Make make,
                                              Call call) {
  using table_type = tuning_table<T, Distribution>;
  using plan_type = decltype(make(like, gather_choice{}));
  struct candidate {
    candidate(std::shared_ptr<table_type> with, const Make& make, const gather_choice& choice)
        : data(std::move(with)), plan(make(table_view<T, Distribution>(data->table), choice)) {}
    std::shared_ptr<table_type> data;  // freed after the plan
    plan_type plan;
  };
  return [&like, make, call](const tuning_size& size) -> make_candidate {
    return [data = std::make_shared<table_type>(like, size), make,
            call](const gather_choice& choice) -> run_candidate {
      return [one = std::make_shared<candidate>(data, make, choice), call](std::size_t requests) {
        call(*one->plan, one->data->indices(requests), one->data->values(requests));
      };
    };
  };
}

}  // namespace longshore::detail
