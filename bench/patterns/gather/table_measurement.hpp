// The base of the measurements of pattern gather: a distributed table of 64-bit elements, and
// random indices into the table, as in bale's index-gather and histogram.
#pragma once

#include "harness/pattern.hpp"
#include "patterns/gather/engine_facts.hpp"
#include "patterns/memory_check.hpp"

#include <longshore/array/dist_array.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/machine/pages.hpp>

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace longshore::bench {

/// How often indices name an element: all equally often, or by Zipf's law.
enum class frequency_of_elements { uniform, zipf };

/// Generates the indices of any rank. Equal seeds give equal indices, so that every rank can
/// verify.
class index_generator {
 public:
  index_generator(std::uint64_t seed, int rank, std::uint64_t elements,
                  frequency_of_elements frequency)
      : random_(seed, static_cast<std::uint64_t>(rank)),
        elements_(elements),
        log_elements_(frequency == frequency_of_elements::zipf
                          ? std::log(static_cast<double>(elements) + 1)
                          : 0) {}

  std::int64_t operator()() {
    if (log_elements_ <= 0) return static_cast<std::int64_t>(random_.below(elements_));
    // Zipf's law of exponent 1: the k-th element occurs 1/k times as often as the first element.
    // The product with a prime scatters the frequent elements over the table.
    const auto k = static_cast<std::uint64_t>(std::exp(random_.uniform() * log_elements_)) - 1;
    return static_cast<std::int64_t>(k * multiplier % elements_);
  }

 private:
  // A prime below 2^32, so the product with up to 2^32 elements does not overflow.
  static constexpr std::uint64_t multiplier = 2'654'435'761;
  random_stream random_;
  std::uint64_t elements_;
  double log_elements_;  // for Zipf's law; 0 if all elements are equally frequent
};

/// The base of all measurements: a table, indices into the table, and a plan. `arrays`: the number
/// of arrays with one integer per request that the measurement needs, including the indices.
template <class Distribution, class Plan>
class table_measurement : public measurement {
 public:
  table_measurement(team& ranks, const variant& levels, const launch_facts& facts,
                    const gather_options& options, std::size_t arrays)
      : team_(ranks),
        requests_(levels.at("requests").get<std::size_t>()),
        table_(ranks, elements_of(ranks, levels.at("table").get<std::uint64_t>()),
               distribution_of(levels)),
        seed_(facts.seed),
        frequency_(levels.contains("index_pattern") && levels.at("index_pattern") == "zipf"
                       ? frequency_of_elements::zipf
                       : frequency_of_elements::uniform),
        indices_memory_(memory_for_indices(ranks, requests_, arrays)),
        plan_(table_, options) {
    index_generator next = generator(team_.rank());
    for (auto& index : indices()) index = next();
  }

  void reset() override { engine_.begin(plan_.stats()); }
  void timed(const repetition& seconds, long iterations) override {
    engine_.end(plan_.stats(), seconds, iterations);
  }
  /// With strategy auto, member `chosen` has the choice of the last call and its origin.
  [[nodiscard]] json collect_facts() override {
    json facts = engine_.facts(team_);
    const gather_decision& decision = plan_.decision();
    if (decision.from == gather_decision::origin::asked) return facts;
    const gather_choice& choice = plan_.choice();
    facts["chosen"] = {
        {"strategy", name_of(choice.strategy)},
        {"buffer_items", aggregates(choice.strategy) ? json(choice.buffer_items) : json(nullptr)},
        {"hops", choice.hops > 0 ? json(choice.hops) : json(nullptr)},
        {"from", name_of(decision.from)},
        {"by_requests", decision.depends_on_requests()}};
    return facts;
  }
  [[nodiscard]] traffic moved() const override { return plan_.moved(); }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    const double node_bytes = static_cast<double>(requests_ * bytes_per_request()) * team_.size() /
                              team_.nodes().node_count();
    return {per_node("injection_bandwidth", 1e-9 * node_bytes / seconds.median, "GB/s"),
            per_node("mean_injection_bandwidth", 1e-9 * node_bytes / seconds.mean_over_ranks_median,
                     "GB/s")};
  }

 protected:
  [[nodiscard]] virtual std::size_t bytes_per_request() const = 0;

  [[nodiscard]] index_generator generator(int rank) const {
    return {seed_, rank, table_.size(), frequency_};
  }
  [[nodiscard]] std::span<std::int64_t> indices() const {
    return as_integers(indices_memory_, requests_);
  }
  /// Overwrites one element in 509 of `result` with `no_value`, so that verification notices a
  /// result that an earlier repetition left. A page of 4 KiB has 512 elements, so each page has such an
  /// element. Few elements are overwritten, so that the caches keep their state. Each call begins
  /// with the next element, so that it overwrites other elements.
  void wipe(std::span<std::int64_t> result, std::int64_t no_value) {
    constexpr std::size_t stride = 509;
    for (std::size_t i = wipe_calls_++ % stride; i < result.size(); i += stride)
      result[i] = no_value;
  }
  /// Memory for `count` integers, on transparent huge pages if possible.
  [[nodiscard]] static pages memory_for(std::size_t count) {
    constexpr bool huge = true;
    return pages(count * sizeof(std::int64_t), huge);
  }
  [[nodiscard]] static std::span<std::int64_t> as_integers(const pages& memory, std::size_t count) {
    return {reinterpret_cast<std::int64_t*>(memory.data()), count};
  }
  /// The ranks that request the element at `offset` of this rank, one entry per request. The first
  /// call generates the requests of all ranks, and keeps the ranks that request each element.
  /// Memory: 8 bytes for each element of this rank, and 4 bytes for each request to this rank.
  [[nodiscard]] std::span<const std::int32_t> requesters_of(std::size_t offset) {
    if (first_requester_.empty()) find_requesters();
    return std::span<const std::int32_t>(requesters_)
        .subspan(first_requester_[offset], first_requester_[offset + 1] - first_requester_[offset]);
  }
  [[nodiscard]] std::int64_t index_of(std::size_t offset) const {
    return static_cast<std::int64_t>(table_.map().index_of(team_.rank(), offset));
  }

  team& team_;
  std::size_t requests_;
  dist_array<std::int64_t, Distribution> table_;
  std::uint64_t seed_;
  frequency_of_elements frequency_;
  pages indices_memory_;
  Plan plan_;

 private:
  void find_requesters() {
    const auto for_each_request_to_me = [&](const auto& body) {
      for (int rank = 0; rank < team_.size(); ++rank) {
        index_generator next = generator(rank);
        for (std::size_t i = 0; i < requests_; ++i) {
          const location at = table_.map().owner_offset(static_cast<std::uint64_t>(next()));
          if (at.rank == team_.rank()) body(rank, at.offset);
        }
      }
    };
    // A counting sort. The first pass counts the requests for each element, two places behind its
    // final place. The second pass moves each beginning to its final place.
    first_requester_.assign(table_.local().size() + 2, 0);
    for_each_request_to_me([&](int, std::size_t offset) { ++first_requester_[offset + 2]; });
    std::partial_sum(first_requester_.begin(), first_requester_.end(), first_requester_.begin());
    requesters_.resize(first_requester_.back());
    for_each_request_to_me(
        [&](int rank, std::size_t offset) { requesters_[first_requester_[offset + 1]++] = rank; });
  }

  static Distribution distribution_of([[maybe_unused]] const variant& levels) {
    if constexpr (std::is_same_v<Distribution, block_cyclic>)
      return {levels.contains("block_items") ? levels.at("block_items").get<std::uint64_t>() : 64};
    else
      return {};
  }
  static std::uint64_t elements_of(const team& ranks, std::uint64_t per_rank) {
    if (per_rank > max_elements / static_cast<std::uint64_t>(ranks.size()))
      fail(errc::out_of_memory, "a table of {} elements per rank is more than any memory holds",
           per_rank);
    return per_rank * static_cast<std::uint64_t>(ranks.size());
  }
  // Collective. Memory for the indices. Throws errc::out_of_memory before anything is allocated, if
  // there is not enough memory for all `arrays`.
  static pages memory_for_indices(team& ranks, std::size_t requests, std::size_t arrays) {
    check_memory(
        ranks, fmt::format("indices and values of {} requests", requests),
        static_cast<double>(requests) * static_cast<double>(arrays * sizeof(std::int64_t)));
    return memory_for(requests);
  }

  engine_facts engine_;
  std::size_t wipe_calls_ = 0;
  // The requesters of the element at `offset` begin at first_requester_[offset].
  std::vector<std::size_t> first_requester_;
  std::vector<std::int32_t> requesters_;
};

}  // namespace longshore::bench
