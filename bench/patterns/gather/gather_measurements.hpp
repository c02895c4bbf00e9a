// The operations of pattern gather, as in bale's index-gather and histogram: 64-bit elements,
// random indices, and values that show every mistake.
#pragma once

#include "harness/pattern.hpp"
#include "patterns/gather/chosen_strategy.hpp"
#include "patterns/gather/engine_facts.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/gather.hpp>
#include <longshore/gather/scatter.hpp>
#include <longshore/gather/update.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/machine/pages.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace longshore::bench {

// Every so many elements, one is wiped before a repetition: some of every page, so that old results
// are found, but few, so that the caches keep their state.
inline constexpr std::size_t wiped_stride = 509;

/// The indices of any rank. Equal seeds give equal indices, so that every rank can verify.
class index_source {
 public:
  index_source(std::uint64_t seed, int rank, std::uint64_t elements, bool zipf)
      : random_(seed, static_cast<std::uint64_t>(rank)),
        elements_(elements),
        log_elements_(zipf ? std::log(static_cast<double>(elements) + 1) : 0) {}

  std::int64_t operator()() {
    if (log_elements_ <= 0) return static_cast<std::int64_t>(random_.below(elements_));
    // Zipf's law of exponent 1: the k-th element is met 1/k as often as the first. The k-th
    // elements are scattered over the table.
    const auto k = static_cast<std::uint64_t>(std::exp(random_.uniform() * log_elements_)) - 1;
    return static_cast<std::int64_t>(k * multiplier % elements_);
  }

 private:
  // A prime; times 2^32 elements it still fits
  static constexpr std::uint64_t multiplier = 2'654'435'761;
  random_stream random_;
  std::uint64_t elements_;
  double log_elements_;
};

/// The common part of all operations: a table, and indices into it.
template <class Distribution>
class table_measurement : public measurement {
 public:
  table_measurement(team& ranks, const variant& what, const launch_facts& facts, std::size_t arrays)
      : team_(ranks),
        requests_(what.at("requests").get<std::size_t>()),
        table_(ranks, elements_of(ranks, what.at("table").get<std::uint64_t>()),
               distribution_of(what)),
        seed_(facts.seed),
        zipf_(what.contains("index_pattern") && what.at("index_pattern") == "zipf"),
        indices_memory_(checked_bytes(ranks, requests_, arrays), true) {
    index_source next = source(team_.rank());
    for (auto& index : indices()) index = next();
  }

  void reset() override { engine_.begin(stats()); }
  void timed(const repetition& seconds, long iterations) override {
    engine_.end(stats(), seconds, iterations);
  }
  [[nodiscard]] json facts() override { return engine_.facts(team_); }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    const double node_bytes = static_cast<double>(requests_ * bytes_per_request()) * team_.size() /
                              team_.nodes().node_count();
    return {per_node("injection_bandwidth", 1e-9 * node_bytes / seconds.median, "GB/s"),
            per_node("mean_injection_bandwidth", 1e-9 * node_bytes / seconds.mean_over_ranks_median,
                     "GB/s")};
  }

 protected:
  [[nodiscard]] virtual std::size_t bytes_per_request() const = 0;
  [[nodiscard]] virtual exchange_stats stats() const = 0;

  [[nodiscard]] index_source source(int rank) const { return {seed_, rank, table_.size(), zipf_}; }
  [[nodiscard]] std::span<std::int64_t> indices() const {
    return {reinterpret_cast<std::int64_t*>(indices_memory_.data()), requests_};
  }
  [[nodiscard]] static std::span<std::int64_t> integers(const pages& memory, std::size_t count) {
    return {reinterpret_cast<std::int64_t*>(memory.data()), count};
  }
  /// Calls body(rank, offset) for every request of every rank for an element of this rank.
  template <class Body>
  void for_each_request_to_me(const Body& body) const {
    for (int rank = 0; rank < team_.size(); ++rank) {
      index_source next = source(rank);
      for (std::size_t i = 0; i < requests_; ++i) {
        const location at = table_.map().owner_offset(static_cast<std::uint64_t>(next()));
        if (at.rank == team_.rank()) body(rank, at.offset);
      }
    }
  }
  [[nodiscard]] std::int64_t index_of(std::size_t offset) const {
    return static_cast<std::int64_t>(table_.map().index_of(team_.rank(), offset));
  }

  team& team_;
  std::size_t requests_;
  dist_array<std::int64_t, Distribution> table_;

 private:
  static Distribution distribution_of([[maybe_unused]] const variant& what) {
    if constexpr (std::is_same_v<Distribution, block_cyclic>)
      return {what.contains("block_items") ? what.at("block_items").get<std::uint64_t>() : 64};
    else
      return {};
  }
  static std::uint64_t elements_of(const team& ranks, std::uint64_t per_rank) {
    if (per_rank > max_elements / static_cast<std::uint64_t>(ranks.size()))
      fail(errc::out_of_memory, "a table of {} elements per rank is more than any memory holds",
           per_rank);
    return per_rank * static_cast<std::uint64_t>(ranks.size());
  }
  // Checks the indices and values of all ranks of the machine together before writing any: the
  // kernel allocates more memory than there is.
  static std::size_t checked_bytes(team& ranks, std::size_t requests, std::size_t arrays) {
    const auto sharing = static_cast<std::size_t>(ranks.nodes().ranks_on_host());
    const auto available = static_cast<std::size_t>(ranks.allreduce_value(
        static_cast<std::int64_t>(std::min(available_memory_bytes(), std::size_t{1} << 62)),
        reduction::min));
    if (requests > available / (arrays * sizeof(std::int64_t)) / sharing)
      fail(errc::out_of_memory,
           "indices and values of {} requests on each of {} ranks do not fit into the {} bytes "
           "available",
           requests, sharing, available);
    return requests * sizeof(std::int64_t);
  }

  std::uint64_t seed_;
  bool zipf_;
  pages indices_memory_;
  engine_facts engine_;
};

/// The value of element i is -(i + 1), so that every answer can be verified.
template <class Distribution>
class gather_measurement final : public table_measurement<Distribution> {
  using base = table_measurement<Distribution>;
  using base::indices, base::integers, base::requests_, base::table_, base::team_;

 public:
  gather_measurement(team& ranks, const variant& what, const launch_facts& facts,
                     gather_options options)
      : base(ranks, what, facts, 2),
        answers_memory_(requests_ * sizeof(std::int64_t), true),
        plan_(table_, options) {
    const auto part = table_.local();
    for (std::size_t k = 0; k < part.size(); ++k) part[k] = value_of(this->index_of(k));
    std::fill(answers().begin(), answers().end(), no_value);
    team_.barrier();
  }

  void reset() override {
    for (std::size_t i = wiped_++ % wiped_stride; i < requests_; i += wiped_stride)
      answers()[i] = no_value;
    base::reset();
  }
  void run() override { plan_(indices(), answers()); }
  [[nodiscard]] json facts() override {
    return with_chosen_strategy(base::facts(), plan_.decision(), plan_.choice());
  }
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
  [[nodiscard]] traffic moved() const override { return plan_.moved(); }
  [[nodiscard]] exchange_stats stats() const override { return plan_.stats(); }

 private:
  static constexpr std::int64_t value_of(std::int64_t index) { return -(index + 1); }
  static constexpr std::int64_t no_value = 1;  // not in the table
  // Index there, value back
  [[nodiscard]] std::size_t bytes_per_request() const override { return 2 * sizeof(std::int64_t); }
  [[nodiscard]] std::span<std::int64_t> answers() const {
    return integers(answers_memory_, requests_);
  }

  pages answers_memory_;
  gather_plan<std::int64_t, Distribution> plan_;
  std::size_t wiped_ = 0;
};

/// Rank r writes (i + 1) x ranks + r into element i, so that an element shows which rank wrote it,
/// and whether it should have.
template <class Distribution>
class scatter_measurement final : public table_measurement<Distribution> {
  using base = table_measurement<Distribution>;
  using base::indices, base::integers, base::requests_, base::table_, base::team_;

 public:
  scatter_measurement(team& ranks, const variant& what, const launch_facts& facts,
                      scatter_options options)
      : base(ranks, what, facts, 2),
        values_memory_(requests_ * sizeof(std::int64_t), true),
        plan_(table_, options) {
    const auto values = integers(values_memory_, requests_);
    for (std::size_t i = 0; i < requests_; ++i) values[i] = value_of(indices()[i], team_.rank());
    std::fill(table_.local().begin(), table_.local().end(), no_value);
    team_.barrier();
  }

  void reset() override {
    const auto part = table_.local();
    for (std::size_t k = wiped_++ % wiped_stride; k < part.size(); k += wiped_stride)
      part[k] = no_value;
    base::reset();
  }
  void run() override { plan_(indices(), integers(values_memory_, requests_)); }
  [[nodiscard]] json facts() override {
    return with_chosen_strategy(base::facts(), plan_.decision(), plan_.choice());
  }
  [[nodiscard]] bool verify() override {
    team_.barrier();
    enum : unsigned char { nobody, somebody, somebody_there };
    std::vector<unsigned char> wrote(table_.local().size(), nobody);
    this->for_each_request_to_me([&](int rank, std::size_t offset) {
      const bool there = table_.local()[offset] == value_of(this->index_of(offset), rank);
      wrote[offset] = std::max<unsigned char>(wrote[offset], there ? somebody_there : somebody);
    });
    for (std::size_t k = 0; k < wrote.size(); ++k) {
      const std::int64_t found = table_.local()[k];
      if (wrote[k] == somebody_there || (wrote[k] == nobody && found == no_value)) continue;
      fmt::print(stderr, "longshore-bench: scatter: rank {}: element {} holds {}, which {}\n",
                 team_.rank(), this->index_of(k), found,
                 wrote[k] == nobody ? "nobody was to write" : "none of those who wrote it gave");
      return false;
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override { return plan_.moved(); }
  [[nodiscard]] exchange_stats stats() const override { return plan_.stats(); }

 private:
  [[nodiscard]] std::int64_t value_of(std::int64_t index, int rank) const {
    return (index + 1) * team_.size() + rank;
  }
  static constexpr std::int64_t no_value = -1;
  [[nodiscard]] std::size_t bytes_per_request() const override { return sizeof(std::int64_t); }

  pages values_memory_;
  scatter_plan<std::int64_t, Distribution> plan_;
  std::size_t wiped_ = 0;
};

/// Counts. After n runs each element must be n times its number of occurrences in the indices of
/// all ranks, which its owner counts.
template <class Distribution>
class histogram_measurement final : public table_measurement<Distribution> {
  using base = table_measurement<Distribution>;
  using base::indices, base::requests_, base::table_, base::team_;

 public:
  histogram_measurement(team& ranks, const variant& what, const launch_facts& facts,
                        update_options options)
      : base(ranks, what, facts, 1), plan_(table_, options) {
    std::fill(table_.local().begin(), table_.local().end(), 0);
    team_.barrier();
  }

  void run() override {
    plan_(indices(), std::int64_t{1});
    ++runs_;
  }
  [[nodiscard]] json facts() override {
    return with_chosen_strategy(base::facts(), plan_.decision(), plan_.choice());
  }
  [[nodiscard]] bool verify() override {
    team_.barrier();
    std::vector<std::int64_t> counts(table_.local().size());
    this->for_each_request_to_me([&](int, std::size_t offset) { counts[offset] += runs_; });
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (table_.local()[k] == counts[k]) continue;
      fmt::print(stderr,
                 "longshore-bench: histogram: rank {}: element {} was counted {} times in {} runs, "
                 "not {}\n",
                 team_.rank(), this->index_of(k), table_.local()[k], runs_, counts[k]);
      return false;
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override { return plan_.moved(); }
  [[nodiscard]] exchange_stats stats() const override { return plan_.stats(); }

 private:
  [[nodiscard]] std::size_t bytes_per_request() const override { return sizeof(std::int64_t); }

  update_plan<std::int64_t, Distribution> plan_;
  std::int64_t runs_ = 0;
};

}  // namespace longshore::bench
