// Operation histogram of pattern gather: increments random elements.
#pragma once

#include "patterns/gather/table_measurement.hpp"

#include <longshore/gather/update.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore::bench {

/// Adds 1 to random elements, so that each element counts how often its index occurs on all ranks.
/// After n runs each element must be n times the number of these occurrences. To verify, the owner
/// of an element generates the indices of all ranks again and counts them.
template <class Distribution>
class histogram_measurement final
    : public table_measurement<Distribution, update_plan<std::int64_t, Distribution>> {
  using base = table_measurement<Distribution, update_plan<std::int64_t, Distribution>>;
  using base::indices, base::requests_, base::table_, base::team_, base::plan_;

 public:
  histogram_measurement(team& ranks, const variant& levels, const launch_facts& facts,
                        const gather_options& options)
      : base(ranks, levels, facts, options, arrays) {
    std::fill(table_.local().begin(), table_.local().end(), 0);
    team_.barrier();
  }

  void run() override {
    plan_(indices(), std::int64_t{1});
    ++runs_;
  }
  [[nodiscard]] bool verify() override {
    team_.barrier();
    for (std::size_t k = 0; k < table_.local().size(); ++k) {
      const auto right = runs_ * static_cast<std::int64_t>(this->requesters_of(k).size());
      if (table_.local()[k] == right) continue;
      fmt::print(stderr,
                 "longshore-bench: histogram: rank {}: element {} was counted {} times in {} runs, "
                 "not {}\n",
                 team_.rank(), this->index_of(k), table_.local()[k], runs_, right);
      return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t arrays = 1;  // indices
  [[nodiscard]] std::size_t bytes_per_request() const override { return sizeof(std::int64_t); }

  std::int64_t runs_ = 0;
};

}  // namespace longshore::bench
