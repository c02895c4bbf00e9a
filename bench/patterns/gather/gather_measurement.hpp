// Operation gather of pattern gather: reads random elements, whose values show every mistake.
#pragma once

#include "patterns/gather/table_measurement.hpp"

#include <longshore/gather/gather.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore::bench {

/// Reads random elements. The value of element i is -(i + 1), so that every result can be verified.
template <class Distribution>
class gather_measurement final
    : public table_measurement<Distribution, gather_plan<std::int64_t, Distribution>> {
  using base = table_measurement<Distribution, gather_plan<std::int64_t, Distribution>>;
  using base::indices, base::as_integers, base::requests_, base::table_, base::team_, base::plan_;

 public:
  gather_measurement(team& ranks, const variant& levels, const launch_facts& facts,
                     const gather_options& options)
      : base(ranks, levels, facts, options, arrays), answers_memory_(base::memory_for(requests_)) {
    const auto part = table_.local();
    for (std::size_t k = 0; k < part.size(); ++k) part[k] = value_of(this->index_of(k));
    std::fill(answers().begin(), answers().end(), no_value);
    team_.barrier();
  }

  void reset() override {
    base::wipe(answers(), no_value);
    base::reset();
  }
  void run() override { plan_(indices(), answers()); }
  [[nodiscard]] bool verify() override {
    for (std::size_t i = 0; i < requests_; ++i) {
      if (answers()[i] == value_of(indices()[i])) continue;
      fmt::print(stderr,
                 "longshore-bench: gather: rank {}: request {} for element {} was answered with "
                 "{}, not {}\n",
                 team_.rank(), i, indices()[i], answers()[i], value_of(indices()[i]));
      return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t arrays = 2;  // indices and answers
  static constexpr std::int64_t value_of(std::int64_t index) { return -(index + 1); }
  static constexpr std::int64_t no_value = 1;  // not in the table
  // The index goes to the owner, and the value comes back.
  [[nodiscard]] std::size_t bytes_per_request() const override { return 2 * sizeof(std::int64_t); }
  [[nodiscard]] std::span<std::int64_t> answers() const {
    return as_integers(answers_memory_, requests_);
  }

  pages answers_memory_;
};

}  // namespace longshore::bench
