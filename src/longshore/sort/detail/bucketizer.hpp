// Counts the items of one rank by bucket and scatters them to their buckets, in parallel tasks.
#pragma once

#include <longshore/sort/options.hpp>

#include <longshore/machine/tasks.hpp>
#include <longshore/sort/detail/bucket_ranges.hpp>
#include <longshore/sort/detail/write_combining_scatter.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// Each task counts and scatters a share of the items. In every bucket its items follow those of
/// the tasks before it, so the items of one bucket keep their order. Memory per task and bucket: 24
/// bytes, and the memory of write_combining_scatter.
template <class Item, class RadixKeyOf>
class bucketizer {
 public:
  using radix_key = typename RadixKeyOf::type;
  using sections = std::vector<section_ranges<radix_key>>;

  bucketizer(tasks& workers, std::size_t buckets, RadixKeyOf radix_key_of)
      : workers_(workers),
        buckets_(buckets),
        radix_key_of_(radix_key_of),
        tasks_(static_cast<std::size_t>(workers.count())) {
    for (auto& task : tasks_) {
      task.counts.resize(buckets);
      task.to.resize(buckets);
    }
  }

  /// Sets counts[bucket] to the number of its items, and returns items.size(). If a radix key is
  /// outside the range of all buckets, returns the position of the first such item instead, and
  /// `counts` are not valid. The last section ends at items.size().
  [[nodiscard]] std::size_t count(std::span<const Item> items, const sections& where,
                                  std::span<std::size_t> counts) {
    std::atomic<std::size_t> bad = items.size();
    workers_.run([&](int task) {
      auto& mine = tasks_[static_cast<std::size_t>(task)];
      std::fill(mine.counts.begin(), mine.counts.end(), std::size_t{0});
      for_each_piece(
          items, where, task,
          [&](std::span<const Item> piece, const bucket_ranges<radix_key>& ranges) {
            const std::size_t found = count_piece(piece, ranges, mine.counts);
            if (found == piece.size()) return;
            const auto at = static_cast<std::size_t>(piece.data() - items.data()) + found;
            for (std::size_t least = bad; at < least && !bad.compare_exchange_weak(least, at);) {
            }
          });
    });
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      counts[bucket] = 0;
      for (const auto& task : tasks_) counts[bucket] += task.counts[bucket];
    }
    return bad;
  }

  /// Stores the items of bucket b to to[b][0 ...], in their order. REQUIRES: the last count() was
  /// of the same items and sections.
  void scatter(std::span<const Item> items, const sections& where, std::span<Item* const> to) {
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      Item* next = to[bucket];
      for (auto& task : tasks_) {
        task.to[bucket] = next;
        next += task.counts[bucket];
      }
    }
    workers_.run([&](int task) {
      auto& mine = tasks_[static_cast<std::size_t>(task)];
      for_each_piece(items, where, task,
                     [&](std::span<const Item> piece, const bucket_ranges<radix_key>& ranges) {
                       scatter_piece(piece, ranges, mine, where.size() > 1);
                     });
    });
  }

 private:
  static constexpr std::size_t chunk_items = 4096;
  // Up to this number of buckets, comparing each key with each end, many keys at a time, is faster
  // than incrementing a counter in memory.
  static constexpr std::size_t most_compared = 8;

  struct task_state {
    std::vector<std::size_t> counts;  // by bucket
    std::vector<Item*> to;            // the destination of the next item, by bucket
    write_combining_scatter<Item> scatter;
  };

  template <class Body>
  void for_each_piece(std::span<const Item> items, const sections& where, int task,
                      const Body& body) const {
    const index_range mine = static_share(items.size(), task, workers_.count());
    std::size_t begin = mine.begin;
    for (const auto& section : where) {
      const std::size_t end = std::min(mine.end, section.end);
      if (begin < end) body(items.subspan(begin, end - begin), section.ranges);
      begin = std::max(begin, end);
    }
  }

  std::size_t count_piece(std::span<const Item> items, const bucket_ranges<radix_key>& ranges,
                          std::span<std::size_t> counts) const {
    for (std::size_t begin = 0; begin < items.size(); begin += chunk_items) {
      const auto chunk = items.subspan(begin, std::min(chunk_items, items.size() - begin));
      radix_key farthest = 0;
      const radix_key lowest = ranges.lowest(),
                      span = static_cast<radix_key>(ranges.highest() - lowest);
      for (const Item& item : chunk)
        farthest = std::max(farthest, static_cast<radix_key>(radix_key_of_(item) - lowest));
      if (farthest > span)
        return begin +
               static_cast<std::size_t>(std::find_if(chunk.begin(), chunk.end(),
                                                     [&](const Item& item) {
                                                       return !ranges.contains(radix_key_of_(item));
                                                     }) -
                                        chunk.begin());
      if (ranges.buckets() <= most_compared)
        count_by_comparing(chunk, ranges, counts);
      else
        ranges.with_bucket_of([&](const auto& bucket_of) {
          for (const Item& item : chunk) ++counts[bucket_of(radix_key_of_(item))];
        });
    }
    return items.size();
  }

  void count_by_comparing(std::span<const Item> chunk, const bucket_ranges<radix_key>& ranges,
                          std::span<std::size_t> counts) const {
    std::size_t below = 0, bucket = ranges.empty();  // `below`: items of all buckets so far
    for (const radix_key last : ranges.ends()) {
      std::conditional_t<sizeof(radix_key) == 8, std::uint64_t, std::uint32_t> not_above = 0;
      for (const Item& item : chunk) not_above += radix_key_of_(item) <= last ? 1 : 0;
      counts[bucket++] += not_above - below;
      below = not_above;
    }
    counts[bucket] += chunk.size() - below;
  }

  // `advance`: the task will scatter further pieces.
  void scatter_piece(std::span<const Item> items, const bucket_ranges<radix_key>& ranges,
                     task_state& mine, bool advance) const {
    if (buckets_ <= most_plain_buckets) {
      ranges.ends().size() == 1 ? scatter_to_few<1>(items, ranges, mine.to)
                                : scatter_to_few<most_plain_buckets - 1>(items, ranges, mine.to);
      return;
    }
    mine.scatter.grow(buckets_);
    ranges.with_bucket_of([&](const auto& bucket_of) {
      mine.scatter.run(items, mine.to,
                       [&](const Item& item) { return bucket_of(radix_key_of_(item)); });
    });
    if (advance) mine.scatter.take_ends(mine.to);
  }

  // Keeps the counts of all buckets in one register. (With counters in memory, each item would wait
  // for the store of the previous one.) `Ends`: the number of ends that each key is compared with;
  // `ranges` has at most as many.
  template <std::size_t Ends>
  void scatter_to_few(std::span<const Item> items, const bucket_ranges<radix_key>& ranges,
                      std::span<Item*> to) const noexcept {
    constexpr std::size_t batch_items = 0xffff;  // the register has 16 bits per count
    std::array<Item*, most_plain_buckets> next{};
    std::copy(to.begin(), to.end(), next.begin());
    std::array<radix_key, Ends> last{};
    last.fill(ranges.highest());
    std::copy(ranges.ends().begin(), ranges.ends().end(), last.begin());
    const auto empty = static_cast<std::uint32_t>(ranges.empty());
    for (std::size_t begin = 0; begin < items.size(); begin += batch_items) {
      const std::size_t end = std::min(items.size(), begin + batch_items);
      std::uint64_t counts = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const radix_key key = radix_key_of_(items[i]);
        std::uint32_t bucket = empty;
        for (const radix_key one : last) bucket += key > one ? 1 : 0;
        next[bucket][(counts >> (16 * bucket)) & 0xffff] = items[i];
        counts += std::uint64_t{1} << (16 * bucket);
      }
      for (std::size_t bucket = 0; bucket < most_plain_buckets; ++bucket)
        next[bucket] += (counts >> (16 * bucket)) & 0xffff;
    }
    std::copy_n(next.begin(), to.size(), to.begin());
  }

  tasks& workers_;
  std::size_t buckets_;
  RadixKeyOf radix_key_of_;
  std::vector<task_state> tasks_;
};

}  // namespace longshore::detail
