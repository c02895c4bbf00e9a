// bucket_sort: items that are spread over the ranks come back sorted over the ranks by their keys.
// The range of keys is cut into one bucket per rank; each rank counts, puts its items in bucket
// order, exchanges the buckets and sorts what it received. The scheme is that of ISx (U. Hanebutte,
// J. Hemstad, PGAS 2015), which however only makes a histogram in the end.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/sort/detail/bucketize.hpp>
#include <longshore/sort/detail/exchange_driver.hpp>
#include <longshore/sort/detail/radix_sort.hpp>
#include <longshore/sort/detail/splitters.hpp>
#include <longshore/sort/verify.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace longshore {

/// Sorts, or only exchanges, often: buffers grow when they must, and are kept.
///
///     longshore::bucket_sorter<std::uint32_t> sorter(team, {.max_key = 1 << 28});
///     std::span<const std::uint32_t> mine = sorter.sort(keys);
///
///     longshore::bucket_sorter<particle, decltype(&particle::cell)> sorter(team, {.stable = true}, &particle::cell);
///
/// Keys are integers, float or double (image_of says how these are ordered); items are of any
/// trivially copyable type. Cost: as make_block_exchange says, and before it an alltoall of 8 bytes
/// per pair and an allreduce of 24 bytes (16 more where the range is to be found; splitters: as
/// choose_splitters). Memory per rank, in items: the largest number received by any rank (with
/// exchanges put, put-scan, direct, rma; what this rank receives, with the others), exactly counted
/// and 1/64 more when it grows, and the larger of given and received; per task some 300 KiB and 100
/// bytes per rank, for items that do not fill lines (12 bytes) or are larger than a line more.
template <class Item, class Projection = std::identity>
requires bucket_item<Item, Projection>
class bucket_sorter {
  using key_image = detail::item_image<Item, Projection>;
  using key = typename key_image::key;
  using image = typename key_image::type;

 public:
  /// Collective. Options are the same on all ranks. Throws, on all ranks, errc::unsupported for
  /// what why_not refuses and for a stable sort by an exchange that is not deterministic,
  /// errc::usage for a max_key beyond the type.
  explicit bucket_sorter(longshore::team& team, const bucket_options& options = {},
                         Projection projection = {})
      : driver_(team, checked(options), sizeof(Item)),
        image_of_{projection},
        bucketizer_(driver_.workers(), static_cast<std::size_t>(team.size()), image_of_),
        radix_(driver_.workers(), image_of_) {}

  bucket_sorter(const bucket_sorter&) = delete;
  bucket_sorter& operator=(const bucket_sorter&) = delete;

  /// Collective. Sorts `items` (any number, different on each rank) over the ranks: returns this
  /// rank's part, ascending; no key of a rank is above one of a later rank. The result lies in the
  /// sorter and is valid until its next use or its end; `items` stay as they are. Throws
  /// errc::usage for a key outside [0, max_key) (errc::peer_failed on the other ranks; the sorter
  /// can be used again), and errc::out_of_memory when there is no room for what a rank receives: on
  /// all ranks where memory that they reach is short, on one where its own is; then the team can
  /// only be left.
  std::span<const Item> sort(std::span<const Item> items) {
    bring(items, true);
    const std::span<const Item> sorted = radix_.sort(received().data(), scratch());
    driver_.end_phase(&bucket_phases::local_sort);
    driver_.end(items.size());
    return sorted;
  }

  /// Collective. The same without the last step: the items of this rank's bucket, in no order; with
  /// `stable` in that of rank and place before.
  std::span<const Item> exchange(std::span<const Item> items) {
    bring(items, false);
    driver_.end(items.size());
    return received();
  }

  /// Of the last use.
  [[nodiscard]] const bucket_phases& phases() const noexcept { return driver_.phases(); }
  /// Of these seconds, those in which this rank waited for others.
  [[nodiscard]] const bucket_phases& waits() const noexcept { return driver_.waits(); }
  /// What this rank moved in the last use: payload is its items; counts and places are wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return driver_.moved(); }
  /// Of that, what the phase exchange moved; the rest belongs to the offsets.
  [[nodiscard]] const traffic& moved_in_exchange() const noexcept {
    return driver_.moved_in_exchange();
  }
  /// What auto became in the last use; else what was asked for.
  [[nodiscard]] exchange_strategy strategy() const noexcept { return driver_.strategy(); }

 private:
  // Before anything is made together.
  static const bucket_options& checked(const bucket_options& options) {
    if (options.max_key == 0) return options;
    if constexpr (std::is_floating_point_v<key>)
      fail(errc::usage,
           "bucket sort: max_key {} is for integer keys: leave it out, and the range is found",
           options.max_key);
    else if (options.max_key - 1 > static_cast<std::uint64_t>(std::numeric_limits<key>::max()))
      fail(errc::usage, "bucket sort: max_key {} is more than the keys' type holds: at most {}",
           options.max_key, static_cast<std::uint64_t>(std::numeric_limits<key>::max()));
    return options;
  }

  using cut = detail::bucket_cut<image>;
  using cuts = std::vector<detail::cut_stretch<image>>;

  [[nodiscard]] Item* scratch() const noexcept { return reinterpret_cast<Item*>(scratch_.data()); }
  [[nodiscard]] std::span<Item> received() noexcept {
    return {reinterpret_cast<Item*>(driver_.way().incoming()), driver_.counts().received};
  }

  // All that comes before the local sort.
  void bring(std::span<const Item> items, bool to_be_sorted) {
    driver_.begin();
    const cuts where = cut_range(items);
    const std::size_t bad = bucketizer_.count(items, where, driver_.counts().outgoing);
    if (bad < items.size()) refuse(items, bad);
    driver_.end_phase(&bucket_phases::count);

    driver_.agree(items.size());
    const std::size_t received_items = driver_.counts().received;
    scratch_.grow(
        std::max(team().size() > 1 ? items.size() : 0, to_be_sorted ? received_items : 0) *
        sizeof(Item));
    driver_.end_phase(&bucket_phases::offsets);

    const std::byte* const outgoing = bucketize(items, where);
    if (driver_.options().meet) team().barrier();
    driver_.end_phase(&bucket_phases::bucketize);

    arrival arrived;
    if (to_be_sorted) {
      radix_.expect(received_items, mine_.lowest, mine_.highest);
      arrived = [this](std::size_t position, std::size_t count) {
        radix_.count(received().data() + position, position, count);
      };
    }
    driver_.move(outgoing, arrived);
    driver_.end_phase(&bucket_phases::exchange);
  }

  // Items to where they shall be stored by this rank, else to scratch. Returns the blocks for the
  // exchange.
  const std::byte* bucketize(std::span<const Item> items, const cuts& where) {
    const auto places = driver_.way().places();
    if (team().size() == 1) {  // they are in bucket order as they are
      if (!places.empty()) copy_by_tasks(reinterpret_cast<Item*>(places[0]), items);
      return reinterpret_cast<const std::byte*>(items.data());
    }
    std::vector<Item*> to;
    for (std::size_t bucket = 0; bucket < driver_.outgoing_starts().size(); ++bucket) {
      std::byte* const place = places.empty() ? nullptr : places[bucket];
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

  // Where the buckets end for the items of this rank; mine_ becomes the range of what comes here.
  [[nodiscard]] cuts cut_range(std::span<const Item> items) {
    const auto& options = driver_.options();
    const bool sampled = options.splitters == bucket_splitters::sampled && team().size() > 1;
    typename cut::range all{};
    if (options.max_key > 0)
      all = {detail::image_of(key{0}), detail::image_of(static_cast<key>(options.max_key - 1))};
    else
      all = extremes(items);
    const auto rank = static_cast<std::size_t>(team().rank());
    if (!sampled) {
      cuts one{{items.size(), cut::of_equal_width(all.lowest, all.highest, team().size())}};
      mine_ = one.front().cut.range_of(rank);
      return one;
    }
    const auto splitters = detail::choose_splitters(
        team(), detail::draw_samples(items, image_of_, team().rank(), team().size(), options.seed),
        items.size());
    mine_ = detail::range_between<image>(splitters, rank, all.lowest, all.highest);
    return detail::cut_at<image>(splitters, team().rank(), items.size(), options.together,
                                 all.lowest, all.highest);
  }

  // Collective. Of all ranks' keys, in one reduction: the largest ~x belongs to the smallest x.
  [[nodiscard]] typename cut::range extremes(std::span<const Item> items) {
    constexpr image none = 0, most = static_cast<image>(~image{0});
    tasks& workers = driver_.workers();
    std::vector<std::array<image, 2>> of_task(static_cast<std::size_t>(workers.count()),
                                              {none, none});
    workers.run([&, image_of = image_of_](int task) {
      const index_range share = static_share(items.size(), task, workers.count());
      image high = none, inverse_low = none;
      for (const Item& item : items.subspan(share.begin, share.size())) {
        const image here = image_of(item);
        high = std::max(high, here);
        inverse_low = std::max(inverse_low, static_cast<image>(most - here));
      }
      of_task[static_cast<std::size_t>(task)] = {high, inverse_low};
    });
    image highest = none, inverse_lowest = none;
    for (const auto& [high, inverse_low] : of_task) {
      highest = std::max(highest, high);
      inverse_lowest = std::max(inverse_lowest, inverse_low);
    }
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;  // the reduction is of signed numbers
    std::array<std::int64_t, 2> ends{
        static_cast<std::int64_t>(std::uint64_t{highest} ^ sign),
        static_cast<std::int64_t>(std::uint64_t{inverse_lowest} ^ sign)};
    team().allreduce(std::span<std::int64_t>(ends), reduction::max);
    const auto lowest =
        static_cast<image>(most - static_cast<image>(static_cast<std::uint64_t>(ends[1]) ^ sign));
    return {lowest,
            std::max(lowest, static_cast<image>(static_cast<std::uint64_t>(ends[0]) ^ sign))};
  }

  void refuse(std::span<const Item> items, std::size_t bad) {
    const key value = detail::key_of<key>(image_of_(items[bad]));
    driver_.refuse_key("key " + std::to_string(value) + " at position " + std::to_string(bad) +
                       " is outside the range: it must be from 0 to max_key - 1 = " +
                       std::to_string(driver_.options().max_key - 1));
  }

  [[nodiscard]] longshore::team& team() const noexcept { return driver_.ranks(); }

  detail::exchange_driver driver_;
  key_image image_of_;
  detail::bucketizer<Item, key_image> bucketizer_;
  detail::radix_sorter<Item, key_image> radix_;
  detail::private_room scratch_;  // items in bucket order; then for sorting
  typename cut::range mine_{};    // of the images that come to this rank
};

/// Collective. One sort with a sorter of its own: returns this rank's part. See bucket_sorter,
/// which is better where more than one follows.
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

/// Collective. The items whose keys belong into this rank's bucket, from all ranks, in no order
/// (with `stable` in that of rank and place before).
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

/// Collective. Sorts values[i] with keys[i] as its key, in place: afterwards the two vectors hold
/// this rank's part, of whatever length. Throws errc::usage where they differ in length,
/// errc::peer_failed on the other ranks.
template <bucket_key Key, trivially_copyable Value>
void bucket_sort_by_key(team& team, std::vector<Key>& keys, std::vector<Value>& values,
                        const bucket_options& options = {}) {
  const int differ =
      team.allreduce_value(keys.size() != values.size() ? team.rank() + 1 : 0, reduction::max);
  if (keys.size() != values.size())
    fail(errc::usage, "bucket sort on rank {}: {} keys, but {} values: each key needs one",
         team.rank(), keys.size(), values.size());
  if (differ > 0)
    fail(errc::peer_failed,
         "bucket sort on rank {} was given up: rank {} has not as many values as keys", team.rank(),
         differ - 1);
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
