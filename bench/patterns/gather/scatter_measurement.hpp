// Operation scatter of pattern gather: writes random elements, with values that show the writer.
#pragma once

#include "patterns/gather/table_measurement.hpp"

#include <longshore/gather/scatter.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore::bench {

/// Writes random elements. Rank r writes (i + 1) x ranks + r into element i. So each element shows
/// which rank wrote the element, and whether the index was right.
template <class Distribution>
class scatter_measurement final
    : public table_measurement<Distribution, scatter_plan<std::int64_t, Distribution>> {
  using base = table_measurement<Distribution, scatter_plan<std::int64_t, Distribution>>;
  using base::indices, base::as_integers, base::requests_, base::table_, base::team_, base::plan_;

 public:
  scatter_measurement(team& ranks, const variant& levels, const launch_facts& facts,
                      const gather_options& options)
      : base(ranks, levels, facts, options, arrays), values_memory_(base::memory_for(requests_)) {
    const auto values = as_integers(values_memory_, requests_);
    for (std::size_t i = 0; i < requests_; ++i) values[i] = value_of(indices()[i], team_.rank());
    std::fill(table_.local().begin(), table_.local().end(), no_value);
    team_.barrier();
  }

  void reset() override {
    base::wipe(table_.local(), no_value);
    base::reset();
  }
  void run() override { plan_(indices(), as_integers(values_memory_, requests_)); }
  [[nodiscard]] bool verify() override {
    team_.barrier();
    for (std::size_t k = 0; k < table_.local().size(); ++k) {
      const std::int64_t value = table_.local()[k];
      const auto writers = this->requesters_of(k);
      const bool is_right = writers.empty()
                                ? value == no_value
                                : std::any_of(writers.begin(), writers.end(), [&](int rank) {
                                    return value == value_of(this->index_of(k), rank);
                                  });
      if (is_right) continue;
      fmt::print(stderr, "longshore-bench: scatter: rank {}: element {} holds {}, which {}\n",
                 team_.rank(), this->index_of(k), value,
                 writers.empty() ? "no rank was to write" : "no writer of the element gave");
      return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t arrays = 2;  // indices and values
  [[nodiscard]] std::int64_t value_of(std::int64_t index, int rank) const {
    return (index + 1) * team_.size() + rank;
  }
  static constexpr std::int64_t no_value = -1;  // no rank writes it
  [[nodiscard]] std::size_t bytes_per_request() const override { return sizeof(std::int64_t); }

  pages values_memory_;
};

}  // namespace longshore::bench
