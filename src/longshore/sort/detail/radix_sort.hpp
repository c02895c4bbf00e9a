// The stable radix sort of one rank's items. One pass over memory splits the items by the highest
// bits of their radix keys into parts that fit into the cache. Tasks then sort the parts by an LSD
// radix sort.
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/sort/detail/growable_buffer.hpp>
#include <longshore/sort/detail/lsd_radix_sort.hpp>
#include <longshore/sort/detail/radix_key.hpp>
#include <longshore/sort/detail/read_ahead.hpp>
#include <longshore/sort/detail/write_combining_scatter.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace longshore::detail {

/// Cost: the split reads each item twice and writes it once. The sort of the parts reads and writes
/// each item once, and moves it in the cache once per 9 further bits that vary among the keys.
/// Memory per task, kept between sorts: some 300 KiB, and as much as the largest part, at most 1
/// MiB.
template <class Item, class RadixKeyOf>
class radix_sorter {
 public:
  using radix_key = typename RadixKeyOf::type;

  radix_sorter(tasks& workers, RadixKeyOf radix_key_of)
      : workers_(workers),
        radix_key_of_(radix_key_of),
        tasks_(static_cast<std::size_t>(workers.count())) {}

  /// Announces a sort of `items` items with radix keys in [lowest, highest].
  void expect(std::size_t items, radix_key lowest, radix_key highest) {
    whole_ = {items, lowest,
              static_cast<int>(std::bit_width(static_cast<radix_key>(highest - lowest)))};
    whole_.split_bits = choose_split(items, whole_.bits);
    counted_ = 0;
    if (whole_.split_bits > 0) clear_counts(whole_);
  }

  /// Counts `count` of the announced items, which begin at `position` in the input of sort(). Call
  /// count() while the items are in the cache. If it counts all items, sort() reads the items one
  /// time less.
  void count(const Item* items, std::size_t position, std::size_t count) {
    counted_ += count;
    if (whole_.split_bits == 0) return;
    for (int task = 0; task < workers_.count() && count > 0; ++task) {
      const index_range share = static_share(whole_.items, task, workers_.count());
      if (position >= share.end) continue;
      const std::size_t in_share = smaller(count, share.end - position);
      count_into(tasks_[static_cast<std::size_t>(task)].counts, items, in_share, whole_);
      items += in_share;
      position += in_share;
      count -= in_share;
    }
  }

  /// The number of highest bits by which sort() splits `items` keys of `bits` bits; 0 if it does
  /// not split them. Enough that parts fit into the cache, or more if that saves a pass and leaves
  /// parts of min_part_items.
  [[nodiscard]] static int choose_split(std::size_t items, int bits) noexcept {
    if (items == 0) return 0;
    const int needed = static_cast<int>(std::bit_width((items * sizeof(Item) - 1) / part_bytes));
    if (needed == 0) return 0;
    const int max_bits = smaller(max_split_bits, bits);
    int best = smaller(needed, max_bits);
    for (int more = best + 1; more <= max_bits && items >> more >= min_part_items; ++more)
      if (radix_passes(bits - more) < radix_passes(bits - best)) best = more;
    return best;
  }
  /// Sorts, in place, items that are already divided into parts by their highest bits. Part p lies
  /// from parts[starts[p]] to parts[starts[p + 1]]. Its items have p in the highest split_bits of
  /// the `bits` bits of (radix key - lowest). Overwrites `scratch`, which has room for all items.
  void sort_split(Item* parts, Item* scratch, const std::vector<std::size_t>& starts,
                  radix_key lowest, int bits, int split_bits) {
    sort_split(parts, scratch, starts, {starts.back(), lowest, bits, split_bits});
  }

  /// Sorts the announced items. Returns the result, which lies in `items` or in `scratch`; both are
  /// overwritten. REQUIRES: `items` and `scratch` have room for all items, are aligned to a cache
  /// line and do not overlap.
  [[nodiscard]] std::span<Item> sort(Item* items, Item* scratch) {
    Item* const sorted = sort_all(items, scratch, whole_, counted_ == whole_.items);
    counted_ = 0;
    return {sorted, whole_.items};
  }

 private:
  // Two parts of this size fit into the second-level cache of every current processor.
  static constexpr std::size_t part_bytes = std::size_t{128} << 10;
  static constexpr std::size_t oversized_bytes = 8 * part_bytes;  // such a part is split again
  static constexpr int max_split_bits = 11;
  // A split may make smaller parts than the cache needs, but not below this size.
  static constexpr std::size_t min_part_items = 2048;

  // Items for which (radix key - lowest) differs in the lowest `bits` bits only. The split is by
  // the highest `split_bits` of these bits.
  struct item_range {
    std::size_t items = 0;
    radix_key lowest = 0;
    int bits = 0, split_bits = 0;
    [[nodiscard]] int low_bits() const noexcept { return bits - split_bits; }
    [[nodiscard]] std::size_t parts() const noexcept { return std::size_t{1} << split_bits; }
  };
  struct task_state {
    std::vector<std::size_t> counts;  // items per part
    std::vector<Item*> to;            // the destination of the next item of each part
    write_combining_scatter<Item> scatter;
    lsd_radix_sorter<Item, RadixKeyOf> sorter;
    growable_buffer scratch;
  };

  [[nodiscard]] auto part_of(const item_range& range) const noexcept {
    return [radix_key_of = radix_key_of_, lowest = range.lowest, shift = range.low_bits(),
            mask = range.parts() - 1](const Item& item) {
      return (static_cast<std::size_t>(static_cast<radix_key>(radix_key_of(item) - lowest)) >>
              shift) &
             mask;
    };
  }

  void clear_counts(const item_range& range) {
    for (auto& task : tasks_) task.counts.assign(range.parts(), 0);
  }
  void count_into(std::vector<std::size_t>& counts, const Item* items, std::size_t count,
                  const item_range& range) const {
    std::size_t* const by_part = counts.data();
    const auto part_of_item = part_of(range);
    for_each_ahead(items, count,
                   [&](const Item& item, std::size_t) { ++by_part[part_of_item(item)]; });
  }

  Item* sort_all(Item* items, Item* scratch, const item_range& range, bool counted) {
    if (range.split_bits == 0)
      return tasks_[0].sorter.sort(items, scratch, range.items, radix_key_of_, range.lowest,
                                   range.bits);
    if (!counted) count_shares(items, range);
    if (all_in_one_part(range)) {
      item_range inner{range.items, range.lowest, range.low_bits()};
      inner.split_bits = choose_split(inner.items, inner.bits);
      return sort_all(items, scratch, inner, false);
    }
    const std::vector<std::size_t> starts = split(items, scratch, range);
    sort_split(scratch, items, starts, range);
    return scratch;
  }

  void sort_split(Item* parts, Item* scratch, const std::vector<std::size_t>& starts,
                  const item_range& range) {
    if (range.low_bits() == 0) return;
    std::vector<std::size_t> oversized;
    std::size_t largest = 0;  // of the parts that are not oversized
    for (std::size_t part = 0; part < range.parts(); ++part) {
      const std::size_t count = starts[part + 1] - starts[part];
      if (count * sizeof(Item) > oversized_bytes)
        oversized.push_back(part);
      else
        largest = larger(largest, count);
    }
    sort_parts(parts, starts, range, largest);
    for (const std::size_t part : oversized) {
      Item* const items = parts + starts[part];
      item_range inner{starts[part + 1] - starts[part], range.lowest, range.low_bits()};
      inner.split_bits = choose_split(inner.items, inner.bits);
      move_to(items, sort_all(items, scratch + starts[part], inner, false), inner.items);
    }
  }

  void count_shares(const Item* items, const item_range& range) {
    clear_counts(range);
    workers_.run([&](int task) {
      const index_range share = static_share(range.items, task, workers_.count());
      count_into(tasks_[static_cast<std::size_t>(task)].counts, items + share.begin, share.size(),
                 range);
    });
  }

  [[nodiscard]] bool all_in_one_part(const item_range& range) const {
    for (std::size_t part = 0; part < range.parts(); ++part) {
      std::size_t items = 0;
      for (const auto& task : tasks_) items += task.counts[part];
      if (items > 0) return items == range.items;
    }
    return true;
  }

  // Copies the items to scratch, ordered by part. Returns where parts begin, and the end of the
  // last part.
  std::vector<std::size_t> split(const Item* items, Item* scratch, const item_range& range) {
    std::vector<std::size_t> starts(range.parts() + 1);
    for (auto& task : tasks_) task.to.resize(range.parts());
    std::size_t next = 0;
    for (std::size_t part = 0; part < range.parts(); ++part) {
      starts[part] = next;
      for (auto& task : tasks_) {
        task.to[part] = scratch + next;
        next += task.counts[part];
      }
    }
    starts.back() = next;
    workers_.run([&](int task) {
      auto& state = tasks_[static_cast<std::size_t>(task)];
      const index_range share = static_share(range.items, task, workers_.count());
      state.scatter.grow(range.parts());
      state.scatter.run({items + share.begin, share.size()}, state.to, part_of(range));
    });
    return starts;
  }

  // Sorts all parts of at most `largest` items, in place. Each task takes the next part when it is
  // free, and uses scratch memory of its own, which stays in the cache.
  void sort_parts(Item* parts, const std::vector<std::size_t>& starts, const item_range& range,
                  std::size_t largest) {
    std::size_t next_part = 0;
    workers_.run([&](int task) {
      auto& state = tasks_[static_cast<std::size_t>(task)];
      Item* const scratch = reinterpret_cast<Item*>(state.scratch.grow(largest * sizeof(Item)));
      const auto take_part = [&] { return __atomic_fetch_add(&next_part, 1, __ATOMIC_RELAXED); };
      std::size_t next = take_part();
      for (std::size_t part; (part = next) < range.parts();) {
        next = take_part();
        Item* const items = parts + starts[part];
        const std::size_t count = starts[part + 1] - starts[part];
        if (count > largest) continue;
        move_to(
            items,
            state.sorter.sort(items, scratch, count, radix_key_of_, range.lowest, range.low_bits(),
                              next < range.parts() ? parts + starts[next] : nullptr),
            count);
      }
    });
  }

  static void move_to(Item* to, const Item* from, std::size_t count) noexcept {
    if (from != to && count > 0) std::memcpy(static_cast<void*>(to), from, count * sizeof(Item));
  }

  tasks& workers_;
  RadixKeyOf radix_key_of_;
  std::vector<task_state> tasks_;
  item_range whole_;
  std::size_t counted_ = 0;
};

}  // namespace longshore::detail
