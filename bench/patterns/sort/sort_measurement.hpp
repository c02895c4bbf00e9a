// The measurement of pattern sort for items of any type: the bucket exchange of ISx, followed by a
// complete sort.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/sort/bucket_sort.hpp>

#include "harness/task_factors.hpp"
#include "patterns/sort/sort_parameters.hpp"

#include <fmt/core.h>

#include <array>

namespace longshore::bench {

/// A key with a payload. The first number of the payload is the record's index before the sort.
template <class Key, std::size_t PayloadBytes>
struct sorted_record {
  Key key;
  std::array<std::uint64_t, PayloadBytes / 8> payload;

  sorted_record() = default;
  sorted_record(Key of, std::uint64_t origin) : key(of) {
    for (std::size_t k = 0; k < payload.size(); ++k) payload[k] = origin + 3 * k;
  }
};

template <class Item>
struct sorted_key {
  using type = Item;
  static type of(const Item& item) noexcept { return item; }
  static std::uint64_t payload_of(const Item&) noexcept { return 0; }
  static std::uint64_t origin_of(const Item&) noexcept { return 0; }
  static Item item(type key, std::uint64_t) noexcept { return key; }
};
template <class Key, std::size_t PayloadBytes>
struct sorted_key<sorted_record<Key, PayloadBytes>> {
  using record = sorted_record<Key, PayloadBytes>;
  using type = Key;
  static Key of(const record& item) noexcept { return item.key; }
  static std::uint64_t payload_of(const record& item) noexcept {
    std::uint64_t mixed = 0;
    for (const std::uint64_t part : item.payload) mixed = mix_bits(mixed ^ part);
    return mixed;
  }
  static std::uint64_t origin_of(const record& item) noexcept { return item.payload[0]; }
  static record item(Key key, std::uint64_t origin) noexcept { return {key, origin}; }
};

/// The key of an item, as a type, so that the compiler inlines the call.
struct key_of_item {
  template <class Item>
  auto operator()(const Item& item) const noexcept {
    return sorted_key<Item>::of(item);
  }
};

template <class Item>
class sort_measurement : public measurement {
  using key = typename sorted_key<Item>::type;

 public:
  sort_measurement(team& ranks, const variant& levels, const launch_facts& facts)
      : team_(ranks),
        share_(key_share_of(ranks, levels)),
        pattern_(levels.at("key_pattern").get<std::string>()),
        max_key_(max_key_of(levels, ranks.size())),
        seed_(facts.seed),
        stable_(levels.at("stable") == "yes"),
        memory_(checked_item_bytes(ranks, share_.count, sizeof(Item)), true),
        workers_(task_options_of(ranks, levels)),
        sorter_(ranks, bucket_options_of(levels, facts,
                                         std::is_floating_point_v<key> ? 0 : max_key_, workers_)) {}

  // All repetitions sort the same keys, as in ISx. The keys are generated again, because ISx
  // includes the time of generation in its total.
  void reset() override {
    batch_sort_seconds_ = batch_exchange_seconds_ = 0;
    batch_runs_ = 0;
    const double start = team_.now();
    Item* const to = items().data();
    generate_keys<key>(
        pattern_, share_, max_key_, random_stream(seed_, static_cast<std::uint64_t>(team_.rank())),
        [=, this](std::size_t i, key k) { to[i] = sorted_key<Item>::item(k, share_.first + i); });
    generate_seconds_ = team_.now() - start;
  }

  void run() override {
    const double start = team_.now();
    sorted_ = sorter_.sort(items());
    batch_sort_seconds_ += team_.now() - start;
    batch_exchange_seconds_ +=
        sorter_.phases().exchange + (stores_directly() ? sorter_.phases().bucketize : 0);
    ++batch_runs_;
  }

  [[nodiscard]] std::vector<std::pair<std::string, double>> phases() const override {
    const bucket_phases& of_sort = sorter_.phases();
    return {{"generate", generate_seconds_}, {"count", of_sort.count},
            {"offsets", of_sort.offsets},    {"bucketize", of_sort.bucketize},
            {"exchange", of_sort.exchange},  {"local_sort", of_sort.local_sort},
            {"verify", verify_seconds_}};
  }

  [[nodiscard]] std::vector<phase_cost> phase_costs() const override {
    const bucket_phases& waited = sorter_.waits();
    const traffic exchanged = sorter_.moved_in_exchange();
    return {{"count", waited.count},
            {"offsets", waited.offsets, sorter_.moved() - exchanged},
            {"bucketize", waited.bucketize},
            {"exchange", waited.exchange, exchanged},
            {"local_sort", waited.local_sort}};
  }

  [[nodiscard]] bool verify() override {
    const double start = team_.now();
    const auto payload_of = &sorted_key<Item>::payload_of;
    const auto before = checksum_of<Item>(items(), key_of_item{}, payload_of);
    const auto result = result_to_verify(sorted_);
    const auto faults = stable_ ? check_sorted(team_, before, result, key_of_item{}, payload_of,
                                               &sorted_key<Item>::origin_of)
                                : check_sorted(team_, before, result, key_of_item{}, payload_of);
    if (!faults.none() && team_.rank() == 0)
      fmt::print(stderr, "longshore-bench: sort: {}\n", faults.text);
    verify_seconds_ = team_.now() - start;
    return faults.none();
  }
  [[nodiscard]] traffic moved() const override { return sorter_.moved(); }

  // The times of this rank, as in ISx: the total includes the generation of keys.
  void timed(const repetition&, long) override {
    total_seconds_.push_back(generate_seconds_ +
                             batch_sort_seconds_ / static_cast<double>(batch_runs_));
    exchange_seconds_.push_back(batch_exchange_seconds_ / static_cast<double>(batch_runs_));
  }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    double exchange = 0;
    for (const auto& [phase, duration] : seconds.phases)
      if (phase == "exchange" || (phase == "bucketize" && stores_directly())) exchange += duration;
    const auto total = static_cast<double>(share_.total);
    const double node_bytes = total * sizeof(Item) / team_.nodes().node_count();
    return {{"keys_per_second", total / seconds.median, "keys/s"},
            per_node("exchange_bandwidth", 1e-9 * node_bytes / exchange, "GB/s"),
            {"total_seconds", mean_over_ranks(total_seconds_), "s", false},
            {"exchange_seconds", mean_over_ranks(exchange_seconds_), "s", false}};
  }

  [[nodiscard]] json collect_facts() override {
    const auto received = static_cast<std::int64_t>(sorted_.size());
    return {{"exchange", name_of(sorter_.strategy())},
            {"tasks", {{"layer", workers_.layer()}, {"count", workers_.count()}}},
            {"received_keys",
             {{"max", team_.allreduce_value(received, reduction::max)},
              {"min", team_.allreduce_value(received, reduction::min)}}}};
  }

 protected:
  /// The items to verify. Tests change these items.
  virtual std::span<const Item> result_to_verify(std::span<const Item> sorted) { return sorted; }

 private:
  [[nodiscard]] std::span<Item> items() const {
    return {reinterpret_cast<Item*>(memory_.data()), share_.count};
  }

  // Whether bucketizing stores items in the memory of their destination, so that it is the
  // exchange.
  [[nodiscard]] bool stores_directly() const noexcept {
    return sorter_.strategy() == exchange_strategy::direct;
  }

  // The mean over ranks of each rank's median over repetitions. ISx takes the mean over
  // repetitions, which a single disturbance may dominate.
  double mean_over_ranks(std::vector<double> seconds) {
    const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
    std::nth_element(seconds.begin(), middle, seconds.end());
    return team_.allreduce_value(*middle, reduction::sum) / team_.size();
  }

  team& team_;
  key_share share_;
  std::string pattern_;
  std::uint64_t max_key_, seed_;
  bool stable_;
  pages memory_;
  tasks workers_;
  bucket_sorter<Item, key_of_item> sorter_;
  std::span<const Item> sorted_;
  double generate_seconds_ = 0, verify_seconds_ = 0, batch_sort_seconds_ = 0,
         batch_exchange_seconds_ = 0;
  long batch_runs_ = 0;
  std::vector<double> total_seconds_, exchange_seconds_;  // one per repetition
};

template <class Item>
std::unique_ptr<measurement> make_sort(team& ranks, const variant& levels,
                                       const launch_facts& facts) {
  return std::make_unique<sort_measurement<Item>>(ranks, levels, facts);
}

}  // namespace longshore::bench
