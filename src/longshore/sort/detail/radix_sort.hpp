// Sorting the items of one rank: one pass over memory that splits by the highest bits into parts
// that fit into the cache, then passes from the lowest bits up within each part, part by part in
// tasks. Stable.
#pragma once

#include <longshore/machine/tasks.hpp>
#include <longshore/sort/detail/key_image.hpp>
#include <longshore/sort/detail/line_scatter.hpp>
#include <longshore/sort/detail/part_sort.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace longshore::detail {

/// Tables kept between uses, per task: some 300 KiB. Cost for n items of whose keys b bits vary:
/// each item is read twice and written once by the split, and moved once per 9 further bits in the
/// cache. A part that does not fit into the cache, because keys crowd in it, is split again.
template <class Item, class ImageOf>
class radix_sorter {
 public:
  using image = typename ImageOf::type;

  radix_sorter(tasks& workers, ImageOf image_of)
      : workers_(workers), image_of_(image_of), tasks_(static_cast<std::size_t>(workers.count())) {}

  /// Begins with `items` items, all of whose images lie in [lowest, highest].
  void expect(std::size_t items, image lowest, image highest) {
    whole_ = {items, lowest,
              static_cast<int>(std::bit_width(static_cast<image>(highest - lowest)))};
    whole_.split_bits = choose_split(items, whole_.bits);
    counted_ = 0;
    if (whole_.split_bits > 0) clear_counts(whole_);
  }

  /// Counts `count` of the items for the split, those that will lie at `position`; where all are
  /// counted so, while they are in the cache anyway, sort() need not read them for that.
  void count(const Item* items, std::size_t position, std::size_t count) {
    counted_ += count;
    if (whole_.split_bits == 0) return;
    for (int task = 0; task < workers_.count() && count > 0; ++task) {
      const index_range share = static_share(whole_.items, task, workers_.count());
      if (position >= share.end) continue;
      const std::size_t here = std::min(count, share.end - position);
      count_into(tasks_[static_cast<std::size_t>(task)].counts, items, here, whole_);
      items += here;
      position += here;
      count -= here;
    }
  }

  /// Sorts the items that were expected. Returns the result, which is in `items` or in `scratch`;
  /// the other is overwritten. REQUIRES: both have room for all, aligned to a cache line, not
  /// overlapping.
  [[nodiscard]] std::span<Item> sort(Item* items, Item* scratch) {
    Item* const sorted = sort_all(items, scratch, whole_, counted_ == whole_.items);
    counted_ = 0;
    return {sorted, whole_.items};
  }

 private:
  // two of these fit into every second-level cache of today
  static constexpr std::size_t part_bytes = std::size_t{128} << 10;
  static constexpr std::size_t crowd_bytes = 8 * part_bytes;  // a part is split again
  static constexpr int most_split_bits = 11;
  static constexpr std::size_t fewest_in_part = 2048;  // when the split is chosen freely

  // Items that have all but their lowest `bits` bits in common.
  struct range {
    std::size_t items = 0;
    image lowest = 0;
    int bits = 0, split_bits = 0;
    [[nodiscard]] int rest() const noexcept { return bits - split_bits; }
    [[nodiscard]] std::size_t parts() const noexcept { return std::size_t{1} << split_bits; }
  };
  struct of_task {
    std::vector<std::size_t> counts;  // by part
    std::vector<Item*> to;
    line_scatter<Item> lines;
    part_sorter<Item, ImageOf> sorter;
  };

  // Bits for the split: so many that parts fit, then as many more as save a pass and leave parts
  // worth a pass.
  static int choose_split(std::size_t items, int bits) noexcept {
    if (items == 0) return 0;
    const int needed = static_cast<int>(std::bit_width((items * sizeof(Item) - 1) / part_bytes));
    if (needed == 0) return 0;
    const int most = std::min(most_split_bits, bits);
    int best = std::min(needed, most);
    for (int more = best + 1; more <= most && items >> more >= fewest_in_part; ++more)
      if (radix_passes(bits - more) < radix_passes(bits - best)) best = more;
    return best;
  }

  [[nodiscard]] auto part_of(const range& what) const noexcept {
    return [image_of = image_of_, lowest = what.lowest, shift = what.rest(),
            mask = what.parts() - 1](const Item& item) {
      return (static_cast<std::size_t>(static_cast<image>(image_of(item) - lowest)) >> shift) &
             mask;
    };
  }

  void clear_counts(const range& what) {
    for (auto& task : tasks_) task.counts.assign(what.parts(), 0);
  }
  void count_into(std::vector<std::size_t>& counts, const Item* items, std::size_t count,
                  const range& what) const {
    std::size_t* const by_part = counts.data();
    const auto part_of_item = part_of(what);
    for (std::size_t i = 0; i < count; ++i) ++by_part[part_of_item(items[i])];
  }

  Item* sort_all(Item* items, Item* scratch, const range& what, bool counted) {
    if (what.split_bits == 0)
      return tasks_[0].sorter.sort(items, scratch, what.items, image_of_, what.lowest, what.bits);
    if (!counted) count_shares(items, what);
    if (all_in_one_part(what)) {  // nothing to split
      range inner{what.items, what.lowest, what.rest()};
      inner.split_bits = choose_split(inner.items, inner.bits);
      return sort_all(items, scratch, inner, false);
    }
    const std::vector<std::size_t> starts = split(items, scratch, what);
    // All parts shall end on the same side, where an average one does.
    Item* const result = radix_passes(what.rest()) % 2 == 0 ? scratch : items;
    std::vector<std::size_t> crowded;
    for (std::size_t part = 0; part < what.parts(); ++part)
      if ((starts[part + 1] - starts[part]) * sizeof(Item) > crowd_bytes && what.rest() > 0)
        crowded.push_back(part);
    sort_parts(items, scratch, result, starts, what, !crowded.empty());
    for (const std::size_t part : crowded) {
      const std::size_t begin = starts[part];
      range inner{starts[part + 1] - begin, what.lowest, what.rest()};
      inner.split_bits = choose_split(inner.items, inner.bits);
      move_to(result + begin, sort_all(scratch + begin, items + begin, inner, false), inner.items);
    }
    return result;
  }

  void count_shares(const Item* items, const range& what) {
    clear_counts(what);
    workers_.run([&](int task) {
      const index_range share = static_share(what.items, task, workers_.count());
      count_into(tasks_[static_cast<std::size_t>(task)].counts, items + share.begin, share.size(),
                 what);
    });
  }

  [[nodiscard]] bool all_in_one_part(const range& what) const {
    for (std::size_t part = 0; part < what.parts(); ++part) {
      std::size_t here = 0;
      for (const auto& task : tasks_) here += task.counts[part];
      if (here > 0) return here == what.items;
    }
    return true;
  }

  // scratch = the items ordered by part. Returns where the parts begin.
  std::vector<std::size_t> split(const Item* items, Item* scratch, const range& what) {
    std::vector<std::size_t> starts(what.parts() + 1);
    for (auto& task : tasks_) task.to.resize(what.parts());
    std::size_t next = 0;
    for (std::size_t part = 0; part < what.parts(); ++part) {
      starts[part] = next;
      for (auto& task : tasks_) {
        task.to[part] = scratch + next;
        next += task.counts[part];
      }
    }
    starts.back() = next;
    workers_.run([&](int task) {
      auto& mine = tasks_[static_cast<std::size_t>(task)];
      const index_range share = static_share(what.items, task, workers_.count());
      mine.lines.grow(what.parts());
      mine.lines.run({items + share.begin, share.size()}, mine.to, part_of(what));
    });
    return starts;
  }

  // Sorts all parts that are not crowded; whoever is free takes the next.
  void sort_parts(Item* items, Item* scratch, Item* result, const std::vector<std::size_t>& starts,
                  const range& what, bool some_crowded) {
    std::atomic<std::size_t> next_part = 0;
    workers_.run([&](int task) {
      auto& sorter = tasks_[static_cast<std::size_t>(task)].sorter;
      for (std::size_t part = 0;
           (part = next_part.fetch_add(1, std::memory_order_relaxed)) < what.parts();) {
        const std::size_t begin = starts[part], count = starts[part + 1] - begin;
        if (some_crowded && count * sizeof(Item) > crowd_bytes && what.rest() > 0) continue;
        move_to(
            result + begin,
            sorter.sort(scratch + begin, items + begin, count, image_of_, what.lowest, what.rest()),
            count);
      }
    });
  }

  static void move_to(Item* to, const Item* from, std::size_t count) noexcept {
    if (from != to && count > 0) std::memcpy(static_cast<void*>(to), from, count * sizeof(Item));
  }

  tasks& workers_;
  ImageOf image_of_;
  std::vector<of_task> tasks_;
  range whole_;
  std::size_t counted_ = 0;
};

}  // namespace longshore::detail
