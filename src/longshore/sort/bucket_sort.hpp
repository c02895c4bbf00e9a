// bucket_sort: sorts items that are distributed over the ranks, by their keys. The range of keys is
// divided into one bucket per rank. Each rank counts its items, puts them in bucket order,
// exchanges the buckets and sorts the items that it received. ISx does the same (U. Hanebutte, J.
// Hemstad, PGAS 2015), except that it ends with a histogram of the keys.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/sort/detail/bucketizer.hpp>
#include <longshore/sort/detail/exchange_driver.hpp>
#include <longshore/sort/detail/radix_sort.hpp>
#include <longshore/sort/detail/splitters.hpp>
#include <longshore/sort/keys.hpp>
#include <longshore/sort/verify.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace longshore {

/// Sorts items, or only exchanges them, any number of times. Keeps its buffers between uses.
///
///     longshore::bucket_sorter<std::uint32_t> sorter(team, {.max_key = 1 << 28});
///     std::span<const std::uint32_t> mine = sorter.sort(keys);
///
///     longshore::bucket_sorter<particle, decltype(&particle::cell)> sorter(
///         team, {.stable = true}, &particle::cell);
///
/// Keys are integers, float or double. Floating keys are ordered as by IEEE 754's totalOrder. Items
/// are of any trivially copyable type.
///
/// Messages: those of make_block_exchange; before them an alltoall of 8 bytes per pair of ranks and
/// an allreduce of 24 bytes. To find the range of the keys takes an allreduce of 16 bytes more, and
/// sampled splitters take an allgather of 24 bytes per sample.
///
/// Memory per rank: a buffer for the received items, and one for the larger of given and received
/// items; each gets 1/64 more when it grows. With exchanges put, put-scan, direct and rma the first
/// buffer has room for the largest number of items that any rank receives. Each task takes some 300
/// KiB and 100 bytes per rank, and more for items that are larger than a cache line or do not
/// divide it (12 bytes).
template <class Item, class Projection = std::identity>
requires bucket_item<Item, Projection>
class bucket_sorter {
  using radix_key_of_item = detail::item_radix_key<Item, Projection>;
  using key = typename radix_key_of_item::key;
  using radix_key = typename radix_key_of_item::type;

 public:
  /// Collective. All ranks give the same options. Throws on all ranks: errc::unsupported for
  /// options that why_not refuses and for a stable sort by an exchange that is not deterministic,
  /// errc::usage for a max_key beyond the limit of the key type.
  explicit bucket_sorter(longshore::team& team, const bucket_options& options = {},
                         Projection projection = {})
      : driver_(team, checked(options), sizeof(Item)),
        radix_key_of_{projection},
        bucketizer_(driver_.workers(), static_cast<std::size_t>(team.size()), radix_key_of_),
        radix_(driver_.workers(), radix_key_of_) {}

  bucket_sorter(const bucket_sorter&) = delete;
  bucket_sorter& operator=(const bucket_sorter&) = delete;

  /// Collective. Sorts the items of all ranks. Each rank gives any number of `items`, which it does
  /// not change. Returns this rank's part in ascending order; no key of a rank is above a key of a
  /// later rank. The result belongs to the sorter and is valid until the sorter is used again or
  /// destroyed.
  ///
  /// Throws errc::usage for a key outside [0, max_key), and errc::peer_failed on the other ranks;
  /// the sorter can be used again. Throws errc::out_of_memory if a rank lacks memory for the items
  /// that it receives: on all ranks if symmetric memory is short, on one rank if its own memory is.
  /// After that, leave the team.
  std::span<const Item> sort(std::span<const Item> items) {
    exchange_buckets(items, true);
    const std::span<const Item> sorted = radix_.sort(received().data(), scratch());
    driver_.end_phase(&bucket_phases::local_sort);
    driver_.end(items.size());
    return sorted;
  }

  /// Collective. As sort(), without the local sort: returns the items of this rank's bucket in no
  /// particular order. With `stable` they are in the order of (rank, position) of the input.
  std::span<const Item> exchange(std::span<const Item> items) {
    exchange_buckets(items, false);
    driver_.end(items.size());
    return received();
  }

  /// The seconds of each phase of the last use.
  [[nodiscard]] const bucket_phases& phases() const noexcept { return driver_.phases(); }
  /// The part of these seconds during which this rank waited for others.
  [[nodiscard]] const bucket_phases& waits() const noexcept { return driver_.waits(); }
  /// The traffic of this rank in the last use. Its items are payload bytes; counts and places of
  /// blocks are wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return driver_.moved(); }
  /// The part of moved() that belongs to the phase exchange. The rest belongs to offsets.
  [[nodiscard]] const traffic& moved_in_exchange() const noexcept {
    return driver_.moved_in_exchange();
  }
  /// The exchange of the last use: if auto was asked for, the one that it chose.
  [[nodiscard]] exchange_strategy strategy() const noexcept { return driver_.strategy(); }

 private:
  // Throws before the first collective step.
  static const bucket_options& checked(const bucket_options& options) {
    if (options.max_key == 0) return options;
    if constexpr (std::is_floating_point_v<key>)
      fail(errc::usage,
           "bucket sort: max_key {} is for integer keys only: leave it out, and the sort finds the "
           "range",
           options.max_key);
    else if (options.max_key - 1 > static_cast<std::uint64_t>(std::numeric_limits<key>::max()))
      fail(errc::usage, "bucket sort: max_key {} is above the limit of the key type: at most {}",
           options.max_key, static_cast<std::uint64_t>(std::numeric_limits<key>::max()));
    return options;
  }

  using ranges = detail::bucket_ranges<radix_key>;
  using key_range = typename ranges::key_range;
  using sections = std::vector<detail::section_ranges<radix_key>>;

  [[nodiscard]] Item* scratch() const noexcept { return reinterpret_cast<Item*>(scratch_.data()); }
  [[nodiscard]] std::span<Item> received() noexcept {
    return {reinterpret_cast<Item*>(driver_.exchange().incoming()), driver_.counts().received};
  }

  // All phases before the local sort.
  void exchange_buckets(std::span<const Item> items, bool to_be_sorted) {
    driver_.begin();
    const sections where = divide_range(items);
    const std::size_t bad = bucketizer_.count(items, where, driver_.counts().outgoing);
    if (bad < items.size()) refuse(items, bad);
    driver_.end_phase(&bucket_phases::count);

    driver_.exchange_counts(items.size());
    const std::size_t received_items = driver_.counts().received;
    scratch_.grow(
        std::max(team().size() > 1 ? items.size() : 0, to_be_sorted ? received_items : 0) *
        sizeof(Item));
    driver_.end_phase(&bucket_phases::offsets);

    const std::byte* const outgoing = bucketize(items, where);
    if (driver_.options().barrier_before_exchange || driver_.options().meet) team().barrier();
    driver_.end_phase(&bucket_phases::bucketize);

    arrival_callback arrived;
    if (to_be_sorted) {
      radix_.expect(received_items, mine_.lowest, mine_.highest);
      arrived = [this](std::size_t position, std::size_t count) {
        radix_.count(received().data() + position, position, count);
      };
    }
    driver_.exchange().run(outgoing, arrived);
    driver_.end_phase(&bucket_phases::exchange);
  }

  // Stores each item in its bucket: in the memory of the receiver if this rank can store there,
  // else in scratch memory. Returns the blocks for the exchange.
  const std::byte* bucketize(std::span<const Item> items, const sections& where) {
    const auto direct = driver_.exchange().direct_destinations();
    if (team().size() == 1) {  // one bucket: the items are in order
      if (!direct.empty()) copy_by_tasks(reinterpret_cast<Item*>(direct[0]), items);
      return reinterpret_cast<const std::byte*>(items.data());
    }
    std::vector<Item*> to;
    for (std::size_t bucket = 0; bucket < driver_.outgoing_starts().size(); ++bucket) {
      std::byte* const place = direct.empty() ? nullptr : direct[bucket];
      to.push_back(place != nullptr ? reinterpret_cast<Item*>(place)
                                    : scratch() + driver_.outgoing_starts()[bucket]);
    }
    bucketizer_.scatter(items, where, to);
    return scratch_.data();
  }

  void copy_by_tasks(Item* to, std::span<const Item> items) {
    tasks& workers = driver_.workers();
    workers.run([&](int task) {
      const index_range share = static_share(items.size(), task, workers.count());
      if (share.size() > 0)
        std::memcpy(static_cast<void*>(to + share.begin), items.data() + share.begin,
                    share.size() * sizeof(Item));
    });
  }

  // Collective. Returns the bucket ranges for the items of this rank, and sets mine_.
  [[nodiscard]] sections divide_range(std::span<const Item> items) {
    const auto& options = driver_.options();
    const bool sampled = options.splitters == bucket_splitters::sampled && team().size() > 1;
    key_range all{};
    if (options.max_key > 0)
      all = {detail::radix_key_of(key{0}),
             detail::radix_key_of(static_cast<key>(options.max_key - 1))};
    else
      all = range_of_keys(items);
    const auto rank = static_cast<std::size_t>(team().rank());
    if (!sampled) {
      sections one{{items.size(), ranges::of_equal_width(all.lowest, all.highest, team().size())}};
      mine_ = one.front().ranges.range_of(rank);
      return one;
    }
    const auto splitters = detail::choose_splitters(
        team(),
        detail::draw_samples(items, radix_key_of_, team().rank(), team().size(), options.seed),
        items.size());
    mine_ = detail::range_of_bucket<radix_key>(splitters, rank, all.lowest, all.highest);
    return detail::ranges_at_splitters<radix_key>(splitters, team().rank(), items.size(),
                                                  options.together, all.lowest, all.highest);
  }

  // Collective. The range of the keys of all ranks. One reduction finds both ends: the maximum of
  // ~x belongs to the minimum of x.
  [[nodiscard]] key_range range_of_keys(std::span<const Item> items) {
    constexpr radix_key none = 0, most = static_cast<radix_key>(~radix_key{0});
    tasks& workers = driver_.workers();
    std::vector<std::array<radix_key, 2>> of_task(static_cast<std::size_t>(workers.count()),
                                                  {none, none});
    workers.run([&, radix_key_of = radix_key_of_](int task) {
      const index_range share = static_share(items.size(), task, workers.count());
      radix_key high = none, inverse_low = none;
      for (const Item& item : items.subspan(share.begin, share.size())) {
        const radix_key here = radix_key_of(item);
        high = std::max(high, here);
        inverse_low = std::max(inverse_low, static_cast<radix_key>(most - here));
      }
      of_task[static_cast<std::size_t>(task)] = {high, inverse_low};
    });
    radix_key highest = none, inverse_lowest = none;
    for (const auto& [high, inverse_low] : of_task) {
      highest = std::max(highest, high);
      inverse_lowest = std::max(inverse_lowest, inverse_low);
    }
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;  // the reduction is of signed numbers
    std::array<std::int64_t, 2> ends{
        static_cast<std::int64_t>(std::uint64_t{highest} ^ sign),
        static_cast<std::int64_t>(std::uint64_t{inverse_lowest} ^ sign)};
    team().allreduce(std::span<std::int64_t>(ends), reduction::max);
    const auto lowest = static_cast<radix_key>(
        most - static_cast<radix_key>(static_cast<std::uint64_t>(ends[1]) ^ sign));
    return {lowest,
            std::max(lowest, static_cast<radix_key>(static_cast<std::uint64_t>(ends[0]) ^ sign))};
  }

  void refuse(std::span<const Item> items, std::size_t bad) {
    const key value = detail::key_from_radix_key<key>(radix_key_of_(items[bad]));
    driver_.refuse_key("key " + std::to_string(value) + " at position " + std::to_string(bad) +
                       " is outside the range: it must be from 0 to max_key - 1 = " +
                       std::to_string(driver_.options().max_key - 1));
  }

  [[nodiscard]] longshore::team& team() const noexcept { return driver_.ranks(); }

  detail::exchange_driver driver_;
  radix_key_of_item radix_key_of_;
  detail::bucketizer<Item, radix_key_of_item> bucketizer_;
  detail::radix_sorter<Item, radix_key_of_item> radix_;
  detail::growable_buffer scratch_;  // for items in bucket order, then for the local sort
  key_range mine_{};                 // the radix keys that this rank may receive
};

/// Collective. Sorts once and returns this rank's part, as bucket_sorter::sort does. For repeated
/// sorts use a bucket_sorter, which keeps its buffers.
template <class Item, class Projection = std::identity>
[[nodiscard]] std::vector<Item> bucket_sort(team& team, const std::vector<Item>& items,
                                            const bucket_options& options = {},
                                            Projection projection = {}) {
  bucket_sorter<Item, Projection> sorter(team, options, projection);
  const std::span<const Item> sorted = sorter.sort(items);
  std::vector<Item> mine(sorted.begin(), sorted.end());
  team.barrier();
  return mine;
}

/// Collective. Returns the items of all ranks whose keys belong to this rank's bucket, as
/// bucket_sorter::exchange does.
template <class Item, class Projection = std::identity>
[[nodiscard]] std::vector<Item> bucket_exchange(team& team, const std::vector<Item>& items,
                                                const bucket_options& options = {},
                                                Projection projection = {}) {
  bucket_sorter<Item, Projection> sorter(team, options, projection);
  const std::span<const Item> received = sorter.exchange(items);
  std::vector<Item> mine(received.begin(), received.end());
  team.barrier();
  return mine;
}

/// Collective. Sorts the pairs (keys[i], values[i]) by key, in place. Afterwards the two vectors
/// hold this rank's part, and may have another length than before. Throws errc::usage on a rank
/// with vectors of different lengths, and errc::peer_failed on the other ranks.
template <bucket_key Key, trivially_copyable Value>
void bucket_sort_by_key(team& team, std::vector<Key>& keys, std::vector<Value>& values,
                        const bucket_options& options = {}) {
  const int differ =
      team.allreduce_value(keys.size() != values.size() ? team.rank() + 1 : 0, reduction::max);
  if (keys.size() != values.size())
    fail(errc::usage, "bucket sort on rank {}: {} keys, but {} values: give one value per key",
         team.rank(), keys.size(), values.size());
  if (differ > 0)
    fail(errc::peer_failed,
         "bucket sort on rank {} was cancelled: rank {} has different numbers of keys and values",
         team.rank(), differ - 1);
  std::vector<keyed<Key, Value>> items(keys.size());
  for (std::size_t i = 0; i < items.size(); ++i) items[i] = {keys[i], values[i]};
  items = bucket_sort(team, items, options, &keyed<Key, Value>::key);
  keys.resize(items.size());
  values.resize(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    keys[i] = items[i].key;
    values[i] = items[i].value;
  }
}

}  // namespace longshore
