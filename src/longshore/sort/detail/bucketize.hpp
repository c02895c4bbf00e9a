// Counting the items of one rank by bucket, and putting them where their buckets are, by tasks.
#pragma once

#include <longshore/sort/options.hpp>

#include <longshore/machine/tasks.hpp>
#include <longshore/sort/detail/bucket_cut.hpp>
#include <longshore/sort/detail/line_scatter.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// Each task has a share of the items, counts it, and later puts it behind the shares of the tasks
/// before it in every bucket: items of one bucket stay in their order. Memory per task and bucket:
/// 24 bytes and what line_scatter takes.
template <class Item, class ImageOf>
class bucketizer {
 public:
  using image = typename ImageOf::type;
  using stretches = std::vector<cut_stretch<image>>;

  bucketizer(tasks& workers, std::size_t buckets, ImageOf image_of)
      : workers_(workers),
        buckets_(buckets),
        image_of_(image_of),
        tasks_(static_cast<std::size_t>(workers.count())) {
    for (auto& task : tasks_) {
      task.counts.resize(buckets);
      task.to.resize(buckets);
    }
  }

  /// counts[bucket] = items of it. Returns the position of an item that no bucket contains, or
  /// items.size(); then counts are not valid. The last stretch ends at items.size().
  [[nodiscard]] std::size_t count(std::span<const Item> items, const stretches& cuts,
                                  std::span<std::size_t> counts) {
    std::atomic<std::size_t> bad = items.size();
    workers_.run([&](int task) {
      auto& mine = tasks_[static_cast<std::size_t>(task)];
      std::fill(mine.counts.begin(), mine.counts.end(), std::size_t{0});
      for_each_piece(
          items, cuts, task, [&](std::span<const Item> piece, const bucket_cut<image>& cut) {
            const std::size_t found = count_piece(piece, cut, mine.counts);
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

  /// to[b][0 ...] = the items of bucket b, in their order. REQUIRES: count() was called with the
  /// same items and cuts.
  void scatter(std::span<const Item> items, const stretches& cuts, std::span<Item* const> to) {
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      Item* next = to[bucket];
      for (auto& task : tasks_) {
        task.to[bucket] = next;
        next += task.counts[bucket];
      }
    }
    workers_.run([&](int task) {
      auto& mine = tasks_[static_cast<std::size_t>(task)];
      for_each_piece(items, cuts, task,
                     [&](std::span<const Item> piece, const bucket_cut<image>& cut) {
                       scatter_piece(piece, cut, mine, cuts.size() > 1);
                     });
    });
  }

 private:
  static constexpr std::size_t chunk_items = 4096;
  // Up to so many buckets it is quicker to compare every key with every boundary, many at a time,
  // than to raise a counter in memory.
  static constexpr std::size_t most_compared = 8;

  struct of_task {
    std::vector<std::size_t> counts;  // by bucket
    std::vector<Item*> to;            // where its next item of a bucket goes
    line_scatter<Item> lines;
  };

  template <class Body>
  void for_each_piece(std::span<const Item> items, const stretches& cuts, int task,
                      const Body& body) const {
    const index_range mine = static_share(items.size(), task, workers_.count());
    std::size_t begin = mine.begin;
    for (const auto& stretch : cuts) {
      const std::size_t end = std::min(mine.end, stretch.end);
      if (begin < end) body(items.subspan(begin, end - begin), stretch.cut);
      begin = std::max(begin, end);
    }
  }

  std::size_t count_piece(std::span<const Item> items, const bucket_cut<image>& cut,
                          std::span<std::size_t> counts) const {
    for (std::size_t begin = 0; begin < items.size(); begin += chunk_items) {
      const auto chunk = items.subspan(begin, std::min(chunk_items, items.size() - begin));
      image farthest = 0;
      const image lowest = cut.lowest(), span = static_cast<image>(cut.highest() - lowest);
      for (const Item& item : chunk)
        farthest = std::max(farthest, static_cast<image>(image_of_(item) - lowest));
      if (farthest > span)
        return begin +
               static_cast<std::size_t>(
                   std::find_if(chunk.begin(), chunk.end(),
                                [&](const Item& item) { return !cut.contains(image_of_(item)); }) -
                   chunk.begin());
      if (cut.buckets() <= most_compared)
        count_by_comparing(chunk, cut, counts);
      else
        cut.with_bucket_of([&](const auto& bucket_of) {
          for (const Item& item : chunk) ++counts[bucket_of(image_of_(item))];
        });
    }
    return items.size();
  }

  void count_by_comparing(std::span<const Item> chunk, const bucket_cut<image>& cut,
                          std::span<std::size_t> counts) const {
    std::size_t below = 0, bucket = cut.empty();  // items of the buckets so far
    for (const image last : cut.ends()) {
      std::conditional_t<sizeof(image) == 8, std::uint64_t, std::uint32_t> not_above = 0;
      for (const Item& item : chunk) not_above += image_of_(item) <= last ? 1 : 0;
      counts[bucket++] += not_above - below;
      below = not_above;
    }
    counts[bucket] += chunk.size() - below;
  }

  // `advance`: more pieces follow.
  void scatter_piece(std::span<const Item> items, const bucket_cut<image>& cut, of_task& mine,
                     bool advance) const {
    if (buckets_ <= most_plain_buckets) {
      cut.ends().size() == 1 ? scatter_to_few<1>(items, cut, mine.to)
                             : scatter_to_few<most_plain_buckets - 1>(items, cut, mine.to);
      return;
    }
    mine.lines.grow(buckets_);
    cut.with_bucket_of([&](const auto& bucket_of) {
      mine.lines.run(items, mine.to, [&](const Item& item) { return bucket_of(image_of_(item)); });
    });
    if (advance) mine.lines.take_ends(mine.to);
  }

  // A count of each bucket in one register. (A counter in memory would make each item wait for the
  // one before it.) `Ends`: with how many ends of buckets keys are compared; those of `cut` are not
  // more.
  template <std::size_t Ends>
  void scatter_to_few(std::span<const Item> items, const bucket_cut<image>& cut,
                      std::span<Item*> to) const noexcept {
    constexpr std::size_t stretch_items = 0xffff;  // 16 bits per count
    std::array<Item*, most_plain_buckets> next{};
    std::copy(to.begin(), to.end(), next.begin());
    std::array<image, Ends> last{};
    last.fill(cut.highest());
    std::copy(cut.ends().begin(), cut.ends().end(), last.begin());
    const auto empty = static_cast<std::uint32_t>(cut.empty());
    for (std::size_t begin = 0; begin < items.size(); begin += stretch_items) {
      const std::size_t end = std::min(items.size(), begin + stretch_items);
      std::uint64_t counts = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const image key = image_of_(items[i]);
        std::uint32_t bucket = empty;
        for (const image one : last) bucket += key > one ? 1 : 0;
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
  ImageOf image_of_;
  std::vector<of_task> tasks_;
};

}  // namespace longshore::detail
