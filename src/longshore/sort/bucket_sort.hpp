// bucket_sort: sorts items that are distributed over the ranks, by their keys. The range of keys is
// divided into one bucket per rank. Each rank counts its items, puts the items in bucket order,
// exchanges the buckets and sorts the items that it received. ISx does the same, but ends with a
// histogram of the keys (U. Hanebutte, J. Hemstad, PGAS 2015).
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/detail/type_name.hpp>
#include <longshore/core/error.hpp>
#include <longshore/sort/detail/bucketizer.hpp>
#include <longshore/sort/detail/exchange_driver.hpp>
#include <longshore/sort/detail/part_bucketizer.hpp>
#include <longshore/sort/detail/radix_sort.hpp>
#include <longshore/sort/detail/splitters.hpp>
#include <longshore/sort/keys.hpp>
#include <longshore/sort/verify.hpp>

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace longshore {

/// Sorts items, or only exchanges them, any number of times. Keeps its buffers between sorts.
///
///     longshore::bucket_sorter<std::uint32_t> sorter(team, {.max_key = 1 << 28});
///     std::span<const std::uint32_t> my_part = sorter.sort(keys);
///
///     longshore::bucket_sorter<particle, decltype(&particle::cell)> sorter(
///         team, {.stable = true}, &particle::cell);
///
/// Keys are integers, float or double. Floating keys are ordered as by IEEE 754's totalOrder. Items
/// are of any trivially copyable type.
///
/// Messages: an alltoall of 8 bytes per pair of ranks, an allreduce of 40 bytes, and the messages
/// of make_block_exchange. Finding the range of the keys adds an allreduce of 16 bytes. Sampled
/// splitters add an allgather of 24 bytes per sample. With exchange direct on one node, sort()
/// stores items by part of the bucket if each rank with items has 256 KiB of items. This adds two
/// alltoalls of 8 bytes per part and pair of ranks, for at most 2048 parts in all.
///
/// Memory per rank: a buffer for the received items, and a buffer for the given or the received
/// items, whichever are more. A buffer that grows gets 1/64 more than needed. With exchanges put,
/// put-scan, direct and rma the first buffer has room for the largest number of items that any rank
/// receives. Each task takes some 600 KiB, 100 bytes per rank, and scratch memory for its largest
/// part (at most 1 MiB). It takes more for items whose size does not divide a cache line, such as
/// 12 bytes or more than a line.
template <class Item, class Projection = item_is_key>
requires bucket_item<Item, Projection>
class bucket_sorter {
  using radix_key_of_item = detail::item_radix_key<Item, Projection>;
  using key = typename radix_key_of_item::key;
  using radix_key = typename radix_key_of_item::type;

 public:
  /// Collective. Throws errc::unsupported, on all ranks, for options that why_not refuses, and for
  /// a stable sort by an exchange that is not deterministic. Throws errc::usage, on all ranks, if
  /// options or items differ between ranks. If a max_key is beyond the limit of the key type,
  /// throws errc::usage on that rank and errc::peer_failed on ranks without such a max_key.
  /// Messages: an allreduce of 24 bytes.
  explicit bucket_sorter(longshore::team& team, const bucket_options& options = {},
                         Projection projection = {})
      : driver_(team, options, sizeof(Item), type_name<key>(), [&] { check(options); }),
        radix_key_of_{projection},
        bucketizer_(driver_.workers(), static_cast<std::size_t>(team.size()), radix_key_of_),
        part_bucketizer_(driver_.workers(), radix_key_of_),
        radix_(driver_.workers(), radix_key_of_) {}

  bucket_sorter(const bucket_sorter&) = delete;
  bucket_sorter& operator=(const bucket_sorter&) = delete;

  /// Collective. Sorts the items of all ranks. Each rank passes any number of `items`, which stay
  /// unchanged. Returns this rank's part in ascending order. No key of a rank is above a key of a
  /// later rank. The result belongs to the sorter and is valid until the sorter is used again or
  /// destroyed.
  ///
  /// For a key outside [0, max_key), throws errc::usage on that rank and errc::peer_failed on the
  /// other ranks. The sorter can then be used again. Throws errc::out_of_memory if a rank lacks
  /// memory for the items that it receives. If symmetric memory is short, all ranks throw. If the
  /// private memory of one rank is short, only that rank throws. After errc::out_of_memory, leave
  /// the team.
  std::span<const Item> sort(std::span<const Item> items) {
    exchange_buckets(items, next_step::sort);
    std::span<const Item> sorted = received();
    if (part_starts_.empty())
      sorted = radix_.sort(received().data(), scratch());
    else
      radix_.sort_split(received().data(), scratch(), part_starts_, my_range_.lowest, bucket_bits_,
                        part_bucketizer_.part_bits());
    team().charge(part_starts_.empty() ? "sorted_keys" : "part_sorted_keys", sorted.size());
    driver_.end_phase(&bucket_phases::local_sort);
    driver_.end(items.size());
    return sorted;
  }

  /// Collective. Like sort(), but without the local sort. Returns the items of this rank's bucket
  /// in no particular order. With `stable` they are in the order of (rank, position) of the input.
  std::span<const Item> exchange(std::span<const Item> items) {
    exchange_buckets(items, next_step::none);
    driver_.end(items.size());
    return received();
  }

  /// The seconds of each phase of the last sort() or exchange().
  [[nodiscard]] const bucket_phases& phases() const noexcept { return driver_.phases(); }
  /// The part of phases() during which this rank waited for other ranks.
  [[nodiscard]] const bucket_phases& waits() const noexcept { return driver_.waits(); }
  /// The traffic of this rank in the last sort() or exchange(). Items are payload bytes; counts and
  /// offsets of blocks are wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return driver_.moved(); }
  /// The part of moved() in the phase `exchange`. The rest of moved() is the traffic of the phase
  /// `offsets`, which exchanges the counts.
  [[nodiscard]] const traffic& moved_in_exchange() const noexcept {
    return driver_.moved_in_exchange();
  }
  /// The strategy of the last exchange. If the option is auto, the strategy that auto chose.
  [[nodiscard]] exchange_strategy strategy() const noexcept { return driver_.strategy(); }

 private:
  static void check(const bucket_options& options) {
    if (options.max_key == 0) return;
    if constexpr (std::is_floating_point_v<key>)
      fail(errc::usage,
           "bucket sort: max_key {} is for integer keys only: leave it out, and the sort finds the "
           "range",
           options.max_key);
    else if (options.max_key - 1 > static_cast<std::uint64_t>(std::numeric_limits<key>::max()))
      fail(errc::usage, "bucket sort: max_key {} is above the limit of the key type: at most {}",
           options.max_key, static_cast<std::uint64_t>(std::numeric_limits<key>::max()));
  }

  using ranges = detail::bucket_ranges<radix_key>;
  using key_range = typename ranges::key_range;
  using section_list = std::vector<detail::section_ranges<radix_key>>;
  using parts = detail::part_bucketizer<Item, radix_key_of_item>;

  [[nodiscard]] Item* scratch() const noexcept { return reinterpret_cast<Item*>(scratch_.data()); }
  [[nodiscard]] std::span<Item> received() noexcept {
    return {reinterpret_cast<Item*>(driver_.exchange().incoming()), driver_.counts().received};
  }

  enum class next_step { none, sort };

  // Runs all phases before the local sort. If items are stored by part, part_starts_ becomes the
  // beginning of each part and the end of the last part. Otherwise part_starts_ becomes empty.
  void exchange_buckets(std::span<const Item> items, next_step next) {
    const bool will_sort = next == next_step::sort;
    part_starts_.clear();
    driver_.begin();
    const section_list sections = divide_range(items);
    const bool by_part = will_sort && may_store_by_part(items, sections);
    const std::span<std::size_t> counts = driver_.outgoing_counts();
    const std::size_t first_bad =
        by_part ? part_bucketizer_.count(items, sections.front().ranges, counts)
                : bucketizer_.count(items, sections, counts);
    if (first_bad < items.size()) refuse(items, first_bad);
    driver_.end_phase(&bucket_phases::count);

    const bool all_by_part = driver_.exchange_counts(items.size(), by_part) &&
                             !driver_.exchange().incoming_of_ranks().empty();
    const std::size_t received_items = driver_.counts().received;
    scratch_.grow(detail::larger(team().size() > 1 && !all_by_part ? items.size() : 0,
                                 will_sort ? received_items : 0) *
                  sizeof(Item));
    std::vector<Item*> to;
    if (all_by_part)
      to = destinations_of_parts(sections.front().ranges);
    else if (by_part)  // counts by bucket, for bucketize()
      (void)bucketizer_.count(items, sections, counts);
    driver_.end_phase(&bucket_phases::offsets);

    const std::byte* outgoing = nullptr;
    if (all_by_part)
      part_bucketizer_.scatter(items, sections.front().ranges, to);
    else
      outgoing = bucketize(items, sections);
    team().charge("bucketed_keys", items.size());
    if (driver_.options().barrier_before_exchange) team().barrier();
    driver_.end_phase(&bucket_phases::bucketize);

    arrival_callback arrived;
    if (will_sort && !all_by_part) {
      radix_.expect(received_items, my_range_.lowest, my_range_.highest);
      arrived = [this](std::size_t position, std::size_t count) {
        radix_.count(received().data() + position, position, count);
      };
    }
    driver_.exchange().run(outgoing, arrived);
    driver_.end_phase(&bucket_phases::exchange);
  }

  // Whether this rank can store its items by part. Items are so stored only if all ranks and the
  // exchange can do it.
  [[nodiscard]] bool may_store_by_part(std::span<const Item> items,
                                       const section_list& sections) const {
    constexpr std::size_t min_bytes = std::size_t{256} << 10;  // fewer bytes need no split
    const exchange_strategy exchange = driver_.options().exchange;
    return (exchange == exchange_strategy::direct || exchange == exchange_strategy::automatic) &&
           team().nodes().node_count() == 1 && sections.size() == 1 &&
           (items.empty() || items.size_bytes() >= min_bytes) &&
           parts::finest_part_bits(sections.front().ranges) > 0;
  }

  // Collective. Returns where this rank stores the items of each bucket and part. A part has the
  // items of all ranks in the order of ranks.
  [[nodiscard]] std::vector<Item*> destinations_of_parts(const ranges& of) {
    bucket_bits_ = of.bits_of_bucket();
    part_bucketizer_.join_parts(
        detail::clamped(detail::radix_sorter<Item, radix_key_of_item>::choose_split(
                            driver_.counts().max_received, bucket_bits_),
                        1, part_bucketizer_.part_bits()));
    const std::size_t count = part_bucketizer_.parts(),
                      size = static_cast<std::size_t>(team().size());
    // indexed by rank, then by part
    std::vector<std::size_t> to_rank(size * count), from_rank(size * count);
    for (std::size_t k = 0; k < to_rank.size(); ++k)
      to_rank[k] = part_bucketizer_.items_in(k / count, k % count);
    driver_.exchange_numbers(to_rank, from_rank);
    // Replaces the number of items from each rank in each part by the position of the first of
    // them.
    part_starts_.resize(count + 1);
    std::size_t next = 0;
    for (std::size_t part = 0; part < count; ++part) {
      part_starts_[part] = next;
      for (std::size_t rank = 0; rank < size; ++rank)
        next += std::exchange(from_rank[rank * count + part], next);
    }
    part_starts_[count] = next;
    driver_.exchange_numbers(from_rank, to_rank);
    std::vector<Item*> destinations(to_rank.size());
    for (std::size_t k = 0; k < to_rank.size(); ++k)
      destinations[k] =
          reinterpret_cast<Item*>(driver_.exchange().incoming_of_ranks()[k / count]) + to_rank[k];
    return destinations;
  }

  // Stores each item in its bucket: in the memory of the receiver if this rank can store there,
  // else in scratch memory. Returns the blocks for the exchange.
  const std::byte* bucketize(std::span<const Item> items, const section_list& sections) {
    const auto direct = driver_.exchange().direct_destinations();
    if (team().size() == 1) {  // the items are in bucket order already
      if (!direct.empty()) copy_by_tasks(reinterpret_cast<Item*>(direct[0]), items);
      return reinterpret_cast<const std::byte*>(items.data());
    }
    std::vector<Item*> to;
    for (std::size_t bucket = 0; bucket < driver_.outgoing_starts().size(); ++bucket) {
      std::byte* const destination = direct.empty() ? nullptr : direct[bucket];
      to.push_back(destination != nullptr ? reinterpret_cast<Item*>(destination)
                                          : scratch() + driver_.outgoing_starts()[bucket]);
    }
    bucketizer_.scatter(items, sections, to);
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

  // Collective. Returns the bucket ranges for the items of this rank, and sets my_range_.
  [[nodiscard]] section_list divide_range(std::span<const Item> items) {
    const auto& options = driver_.options();
    const bool sampled = options.splitters == bucket_splitters::sampled && team().size() > 1;
    key_range range{};
    if (options.max_key > 0)
      range = {detail::radix_key_of(key{0}),
               detail::radix_key_of(static_cast<key>(options.max_key - 1))};
    else
      range = range_of_keys(items);
    const auto rank = static_cast<std::size_t>(team().rank());
    if (!sampled) {
      section_list sections{
          {items.size(), ranges::of_equal_width(range.lowest, range.highest, team().size())}};
      my_range_ = sections.front().ranges.range_of(rank);
      return sections;
    }
    const auto splitters = detail::choose_splitters(
        team(),
        detail::draw_samples(items, radix_key_of_, team().rank(), team().size(), options.seed),
        items.size());
    my_range_ = detail::range_of_bucket<radix_key>(splitters, rank, range.lowest, range.highest);
    return detail::ranges_at_splitters<radix_key>(splitters, team().rank(), items.size(),
                                                  options.together, range.lowest, range.highest);
  }

  // Collective. Returns the range of the keys of all ranks. One reduction by maximum finds both
  // ends of the range, because the maximum of ~x is the complement of the minimum of x.
  [[nodiscard]] key_range range_of_keys(std::span<const Item> items) {
    constexpr radix_key max_radix_key = static_cast<radix_key>(~radix_key{0});
    tasks& workers = driver_.workers();
    std::vector<std::array<radix_key, 2>> of_task(static_cast<std::size_t>(workers.count()),
                                                  {0, 0});
    workers.run([&, radix_key_of = radix_key_of_](int task) {
      const index_range share = static_share(items.size(), task, workers.count());
      radix_key high = 0, inverse_low = 0;
      for (const Item& item : items.subspan(share.begin, share.size())) {
        const radix_key item_key = radix_key_of(item);
        high = detail::larger(high, item_key);
        inverse_low = detail::larger(inverse_low, static_cast<radix_key>(max_radix_key - item_key));
      }
      of_task[static_cast<std::size_t>(task)] = {high, inverse_low};
    });
    radix_key highest = 0, inverse_lowest = 0;
    for (const auto& [high, inverse_low] : of_task) {
      highest = detail::larger(highest, high);
      inverse_lowest = detail::larger(inverse_lowest, inverse_low);
    }
    // The reduction compares signed numbers. Inverting the sign bit keeps the order of the keys.
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    std::array<std::int64_t, 2> ends{
        static_cast<std::int64_t>(std::uint64_t{highest} ^ sign),
        static_cast<std::int64_t>(std::uint64_t{inverse_lowest} ^ sign)};
    team().allreduce(std::span<std::int64_t>(ends), reduction::max);
    const auto lowest = static_cast<radix_key>(
        max_radix_key - static_cast<radix_key>(static_cast<std::uint64_t>(ends[1]) ^ sign));
    return {
        lowest,
        detail::larger(lowest, static_cast<radix_key>(static_cast<std::uint64_t>(ends[0]) ^ sign))};
  }

  void refuse(std::span<const Item> items, std::size_t position) {
    const key value = detail::key_from_radix_key<key>(radix_key_of_(items[position]));
    std::string text = std::to_string(value);
    // The interfaces of other languages pass signed keys as words without a sign.
    if constexpr (std::unsigned_integral<key>)
      if (const auto with_sign = static_cast<std::make_signed_t<key>>(value); with_sign < 0)
        text += " (" + std::to_string(with_sign) + " if it has a sign)";
    driver_.refuse_key("key " + text + " at position " + std::to_string(position) +
                       " is outside the range: it must be from 0 to max_key - 1 = " +
                       std::to_string(driver_.options().max_key - 1));
  }

  [[nodiscard]] longshore::team& team() const noexcept { return driver_.ranks(); }

  detail::exchange_driver driver_;
  radix_key_of_item radix_key_of_;
  detail::bucketizer<Item, radix_key_of_item> bucketizer_;
  parts part_bucketizer_;
  detail::radix_sorter<Item, radix_key_of_item> radix_;
  detail::growable_buffer scratch_;       // for items in bucket order, then for the local sort
  key_range my_range_{};                  // the radix keys that this rank may receive
  std::vector<std::size_t> part_starts_;  // of the received items, if they were stored by part
  int bucket_bits_ = 0;                   // the bits in which keys of a bucket differ
};

/// Collective. Sorts once and returns this rank's part, as bucket_sorter::sort does. For repeated
/// sorts use a bucket_sorter, which keeps its buffers.
template <class Item, class Projection = item_is_key>
[[nodiscard]] std::vector<Item> bucket_sort(team& team, const std::vector<Item>& items,
                                            const bucket_options& options = {},
                                            Projection projection = {}) {
  bucket_sorter<Item, Projection> sorter(team, options, projection);
  const std::span<const Item> sorted = sorter.sort(items);
  std::vector<Item> part(sorted.begin(), sorted.end());
  team.barrier();
  return part;
}

/// Collective. Returns the items of all ranks whose keys belong to this rank's bucket, as
/// bucket_sorter::exchange does.
template <class Item, class Projection = item_is_key>
[[nodiscard]] std::vector<Item> bucket_exchange(team& team, const std::vector<Item>& items,
                                                const bucket_options& options = {},
                                                Projection projection = {}) {
  bucket_sorter<Item, Projection> sorter(team, options, projection);
  const std::span<const Item> received = sorter.exchange(items);
  std::vector<Item> part(received.begin(), received.end());
  team.barrier();
  return part;
}

/// Collective. Sorts the pairs (keys[i], values[i]) by key, in place. Afterwards the two vectors
/// hold this rank's part, and may have another length than before. Throws errc::usage on a rank
/// with vectors of different lengths, and errc::peer_failed on the other ranks.
template <bucket_key Key, trivially_copyable Value>
void bucket_sort_by_key(team& team, std::vector<Key>& keys, std::vector<Value>& values,
                        const bucket_options& options = {}) {
  const int failed_plus_1 =
      team.allreduce_value(keys.size() != values.size() ? team.rank() + 1 : 0, reduction::max);
  if (keys.size() != values.size())
    fail(errc::usage, "bucket sort on rank {}: {} keys, but {} values: give one value per key",
         team.rank(), keys.size(), values.size());
  if (failed_plus_1 > 0)
    fail(errc::peer_failed,
         "bucket sort on rank {} was cancelled: rank {} has different numbers of keys and values",
         team.rank(), failed_plus_1 - 1);
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
