// The operations of pattern gather: gather, scatter and histogram.
#pragma once

#include "patterns/gather/table_measurement.hpp"

#include <longshore/gather/gather.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/gather/update.hpp>

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
