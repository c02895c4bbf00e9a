// Counts and scatters the items of one rank by bucket and by part of the bucket at once. The owner
// of a bucket gets its items in the order of parts, and sorts the parts without a split of its own.
// So a sort reads the items three times instead of five times, and writes them twice instead of
// three times.
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/sort/detail/bucket_ranges.hpp>
#include <longshore/sort/detail/read_ahead.hpp>
#include <longshore/sort/detail/write_combining_scatter.hpp>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace longshore::detail {

/// The highest bits of (radix key - lowest of the bucket) select one of the 2^part_bits() parts of
/// a bucket. Items of a part keep their order, also across tasks. Memory per task: 16 bytes per
/// bucket and part, and the memory of write_combining_scatter.
template <class Item, class RadixKeyOf>
class part_bucketizer {
 public:
  using radix_key = typename RadixKeyOf::type;
  using ranges = bucket_ranges<radix_key>;

  part_bucketizer(tasks& workers, RadixKeyOf radix_key_of)
      : workers_(workers),
        radix_key_of_(radix_key_of),
        tasks_(static_cast<std::size_t>(workers.count())) {}

  /// The number of part bits with which count() counts. 0 if these buckets should not be divided,
  /// because their widths differ or there are too many buckets.
  [[nodiscard]] static int finest_part_bits(const ranges& of) noexcept {
    if (!of.can_be_divided()) return 0;
    const int bucket_bits = static_cast<int>(std::bit_width(of.buckets() - 1)),
              bits = smaller(of.bits_of_bucket(), max_index_bits - bucket_bits);
    return bits < min_part_bits ? 0 : bits;
  }

  /// Counts the items by bucket and part. Stores the numbers of items by bucket to `counts`, and
  /// returns items.size(). But if a radix key is outside the range of all buckets, returns the
  /// position of the first such item, and `counts` are not valid. REQUIRES: finest_part_bits(of) >
  /// 0.
  [[nodiscard]] std::size_t count(std::span<const Item> items, const ranges& of,
                                  std::span<std::size_t> counts) {
    part_bits_ = finest_part_bits(of);
    buckets_ = of.buckets();
    std::vector<std::size_t> first_outside(tasks_.size());
    workers_.run([&](int task) {
      const auto t = static_cast<std::size_t>(task);
      tasks_[t].counts.assign(buckets_ << part_bits_, 0);
      first_outside[t] = count_share(share_of(items, task), of, tasks_[t].counts);
    });
    for (int task = 0; task < workers_.count(); ++task) {
      const index_range share = static_share(items.size(), task, workers_.count());
      const std::size_t outside = first_outside[static_cast<std::size_t>(task)];
      if (outside < share.size()) return share.begin + outside;
    }
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      counts[bucket] = 0;
      for (std::size_t part = 0; part < parts(); ++part) counts[bucket] += items_in(bucket, part);
    }
    return items.size();
  }

  /// Joins neighbouring parts until a bucket has 2^part_bits of them. REQUIRES: `part_bits` is at
  /// most part_bits().
  void join_parts(int part_bits) {
    const std::size_t joined = std::size_t{1} << (part_bits_ - part_bits);
    for (auto& task : tasks_) {
      for (std::size_t k = 0; k < buckets_ << part_bits; ++k) {
        std::size_t items = 0;
        for (std::size_t i = 0; i < joined; ++i) items += task.counts[k * joined + i];
        task.counts[k] = items;
      }
      task.counts.resize(buckets_ << part_bits);
    }
    part_bits_ = part_bits;
  }

  [[nodiscard]] int part_bits() const noexcept { return part_bits_; }
  [[nodiscard]] std::size_t parts() const noexcept { return std::size_t{1} << part_bits_; }
  [[nodiscard]] std::size_t items_in(std::size_t bucket, std::size_t part) const noexcept {
    std::size_t items = 0;
    for (const auto& task : tasks_) items += task.counts[(bucket << part_bits_) + part];
    return items;
  }

  /// Stores the items of each part from to[bucket * parts() + part] on. REQUIRES: the last count()
  /// had the same items and buckets.
  void scatter(std::span<const Item> items, const ranges& of, std::span<Item* const> to) {
    for (std::size_t k = 0; k < to.size(); ++k) {
      Item* next = to[k];
      for (auto& task : tasks_) {
        task.destinations.resize(to.size());
        task.destinations[k] = next;
        next += task.counts[k];
      }
    }
    workers_.run([&](int task) {
      auto& state = tasks_[static_cast<std::size_t>(task)];
      state.scatter.grow(to.size());
      of.with_part_of(part_bits_, [&](const auto& part_of) {
        state.scatter.run(share_of(items, task), state.destinations,
                          [part_of, radix_key_of = radix_key_of_](const Item& item) {
                            return part_of(radix_key_of(item));
                          });
      });
    });
  }

 private:
  // A scatter handles 2^max_index_bits parts of all buckets together at full speed.
  static constexpr int max_index_bits = 11;
  // With fewer parts, the receiver would still have to split its bucket.
  static constexpr int min_part_bits = 4;
  // Each chunk is read twice from the first-level cache: the keys are checked, and then counted.
  static constexpr std::size_t chunk_items =
      larger<std::size_t>(16, std::bit_floor((std::size_t{8} << 10) / sizeof(Item)));
  static constexpr std::size_t max_counter = std::size_t{1} << 31;

  struct task_state {
    std::vector<std::size_t> counts;  // indexed by bucket, then by part
    std::vector<Item*> destinations;
    write_combining_scatter<Item> scatter;
  };

  // Returns the position of the first item outside the range of all buckets, or items.size().
  [[nodiscard]] std::size_t count_share(std::span<const Item> items, const ranges& of,
                                        std::span<std::size_t> counts) const {
    // Neighbouring items are counted in different tables, because a counter that is incremented
    // twice in a row would wait for its own store. Counters have 32 bits, so that more of them fit
    // into the cache.
    std::vector<std::uint32_t> tables(2 * counts.size());
    std::uint32_t* const of_lane[] = {tables.data(), tables.data() + counts.size()};
    const auto add_counts = [&] {
      for (std::size_t k = 0; k < counts.size(); ++k)
        counts[k] += std::size_t{std::exchange(of_lane[0][k], 0)} + std::exchange(of_lane[1][k], 0);
    };
    std::size_t counted = 0;
    of.with_part_of(part_bits_, [&](const auto& part_of) {
      while (counted < items.size()) {
        const auto chunk = items.subspan(counted, smaller(chunk_items, items.size() - counted));
        if (of.first_outside(chunk, radix_key_of_) < chunk.size()) break;
        for_each_ahead(chunk.data(), chunk.size(), chunk.data() + chunk.size(),
                       [&](const Item& item, std::size_t lane) {
                         ++of_lane[lane][part_of(radix_key_of_(item))];
                       });
        counted += chunk.size();
        if (counted % max_counter == 0) add_counts();
      }
    });
    add_counts();
    return counted + of.first_outside(items.subspan(counted), radix_key_of_);
  }

  [[nodiscard]] std::span<const Item> share_of(std::span<const Item> items, int task) const {
    const index_range share = static_share(items.size(), task, workers_.count());
    return items.subspan(share.begin, share.size());
  }

  tasks& workers_;
  RadixKeyOf radix_key_of_;
  std::size_t buckets_ = 0;
  int part_bits_ = 0;
  std::vector<task_state> tasks_;
};

}  // namespace longshore::detail
