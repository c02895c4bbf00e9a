// Counts the items of one rank by bucket and scatters them to their buckets, in parallel tasks.
#pragma once

#include <longshore/core/detail/min_max.hpp>
#include <longshore/sort/options.hpp>

#include <longshore/machine/tasks.hpp>
#include <longshore/sort/detail/bucket_ranges.hpp>
#include <longshore/sort/detail/write_combining_scatter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::detail {

/// The items are divided into sections with bucket ranges of their own (section_ranges), usually
/// only one. Each task counts and scatters a share of the items. In every bucket, the items of a
/// task follow the items of the tasks with lower numbers, so the items of one bucket keep their
/// order. Memory per task and bucket: 24 bytes, and the memory of write_combining_scatter.
template <class Item, class RadixKeyOf>
class bucketizer {
 public:
  using radix_key = typename RadixKeyOf::type;
  using section_list = std::vector<section_ranges<radix_key>>;

  bucketizer(tasks& workers, std::size_t buckets, RadixKeyOf radix_key_of)
      : workers_(workers),
        buckets_(buckets),
        radix_key_of_(radix_key_of),
        tasks_(static_cast<std::size_t>(workers.count())) {
    for (auto& task : tasks_) {
      task.counts.resize(buckets);
      task.destinations.resize(buckets);
    }
  }

  /// Sets counts[bucket] to the number of items of each bucket, and returns items.size(). But if a
  /// radix key is outside the range of all buckets, returns the position of the first such item,
  /// and `counts` are not valid. REQUIRES: the last section ends at items.size().
  [[nodiscard]] std::size_t count(std::span<const Item> items, const section_list& sections,
                                  std::span<std::size_t> counts) {
    workers_.run([&](int task) {
      auto& state = tasks_[static_cast<std::size_t>(task)];
      state.counts.assign(buckets_, 0);
      state.first_outside = items.size();
      for_each_piece(items, sections, task,
                     [&](std::span<const Item> piece, const bucket_ranges<radix_key>& ranges) {
                       const std::size_t in_piece = count_piece(piece, ranges, state.counts);
                       if (in_piece == piece.size()) return;
                       const auto begin = static_cast<std::size_t>(piece.data() - items.data());
                       state.first_outside = smaller(state.first_outside, begin + in_piece);
                     });
    });
    std::size_t first_outside = items.size();
    for (const auto& task : tasks_) first_outside = smaller(first_outside, task.first_outside);
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      counts[bucket] = 0;
      for (const auto& task : tasks_) counts[bucket] += task.counts[bucket];
    }
    return first_outside;
  }

  /// Stores the items of bucket b to to[b][0], to[b][1], ..., in their order. REQUIRES: the last
  /// count() had the same items and sections.
  void scatter(std::span<const Item> items, const section_list& sections,
               std::span<Item* const> to) {
    for (std::size_t bucket = 0; bucket < buckets_; ++bucket) {
      Item* next = to[bucket];
      for (auto& task : tasks_) {
        task.destinations[bucket] = next;
        next += task.counts[bucket];
      }
    }
    workers_.run([&](int task) {
      auto& state = tasks_[static_cast<std::size_t>(task)];
      for_each_piece(items, sections, task,
                     [&](std::span<const Item> piece, const bucket_ranges<radix_key>& ranges) {
                       scatter_piece(piece, ranges, state, sections.size() > 1);
                     });
    });
  }

 private:
  // count_piece() reads each chunk of items twice: it checks the keys, and then counts them.
  static constexpr std::size_t chunk_items = 4096;
  // Up to this number of buckets, it is faster to compare many keys at a time with the end of each
  // bucket than to increment a counter in memory for each key.
  static constexpr std::size_t max_compared = 8;

  struct task_state {
    std::vector<std::size_t> counts;  // items per bucket
    std::size_t first_outside;        // the position of an item, or the number of items
    std::vector<Item*> destinations;  // of the next item of each bucket
    write_combining_scatter<Item> scatter;
  };

  // Calls body(piece, ranges) for the part of each section that lies in the share of `task`.
  template <class Body>
  void for_each_piece(std::span<const Item> items, const section_list& sections, int task,
                      const Body& body) const {
    const index_range share = static_share(items.size(), task, workers_.count());
    std::size_t begin = share.begin;
    for (const auto& section : sections) {
      const std::size_t end = smaller(share.end, section.end);
      if (begin < end) body(items.subspan(begin, end - begin), section.ranges);
      begin = larger(begin, end);
    }
  }

  // Returns the position of the first item outside the range of all buckets, or items.size().
  std::size_t count_piece(std::span<const Item> items, const bucket_ranges<radix_key>& ranges,
                          std::span<std::size_t> counts) const {
    for (std::size_t begin = 0; begin < items.size(); begin += chunk_items) {
      const auto chunk = items.subspan(begin, smaller(chunk_items, items.size() - begin));
      const std::size_t outside = ranges.first_outside(chunk, radix_key_of_);
      if (outside < chunk.size()) return begin + outside;
      if (ranges.buckets() <= max_compared)
        count_by_comparing(chunk, ranges, counts);
      else
        ranges.with_bucket_of([&](const auto& bucket_of) {
          for (const Item& item : chunk) ++counts[bucket_of(radix_key_of_(item))];
        });
    }
    return items.size();
  }

  // Counts the keys up to the end of each bucket. The difference of two such counts belongs to one
  // bucket.
  void count_by_comparing(std::span<const Item> chunk, const bucket_ranges<radix_key>& ranges,
                          std::span<std::size_t> counts) const {
    std::size_t in_earlier_buckets = 0, bucket = ranges.empty_buckets();
    for (const radix_key last : ranges.last_keys()) {
      // A counter as wide as keys of 4 or 8 bytes suits vector instructions. The number of items of
      // a chunk fits into 32 bits.
      std::conditional_t<sizeof(radix_key) == 8, std::uint64_t, std::uint32_t> not_above = 0;
      for (const Item& item : chunk) not_above += radix_key_of_(item) <= last ? 1 : 0;
      counts[bucket++] += not_above - in_earlier_buckets;
      in_earlier_buckets = not_above;
    }
    counts[bucket] += chunk.size() - in_earlier_buckets;
  }

  // `more_pieces`: the task may scatter further pieces, so the destinations must be up to date.
  void scatter_piece(std::span<const Item> items, const bucket_ranges<radix_key>& ranges,
                     task_state& state, bool more_pieces) const {
    if (buckets_ <= max_plain_buckets) {
      if (ranges.last_keys().size() == 1)
        scatter_to_few<1>(items, ranges, state.destinations);
      else
        scatter_to_few<max_plain_buckets - 1>(items, ranges, state.destinations);
      return;
    }
    state.scatter.grow(buckets_);
    ranges.with_bucket_of([&](const auto& bucket_of) {
      state.scatter.run(items, state.destinations,
                        [&](const Item& item) { return bucket_of(radix_key_of_(item)); });
    });
    if (more_pieces) state.scatter.copy_ends_to(state.destinations);
  }

  // Keeps the counts of all buckets in one register: bucket b has the bits from count_bits * b on.
  // (With counters in memory, each item would wait for the store of the previous counter.) A batch
  // has no more items than a count can hold. Compares each key with `LastKeys` last keys. REQUIRES:
  // `ranges` has at most `LastKeys` of them.
  template <std::size_t LastKeys>
  void scatter_to_few(std::span<const Item> items, const bucket_ranges<radix_key>& ranges,
                      std::span<Item*> destinations) const noexcept {
    constexpr std::uint32_t count_bits = 16;
    constexpr std::uint64_t max_count = (std::uint64_t{1} << count_bits) - 1;
    constexpr std::size_t batch_items = max_count;
    static_assert(max_plain_buckets * count_bits <= 64, "all counts must fit into one register");
    std::array<Item*, max_plain_buckets> next{};
    for (std::size_t b = 0; b < destinations.size(); ++b) next[b] = destinations[b];
    // No key is above the highest, so unused last keys count no key.
    std::array<radix_key, LastKeys> last_keys{};
    last_keys.fill(ranges.highest());
    for (std::size_t k = 0; const radix_key last : ranges.last_keys()) last_keys[k++] = last;
    const auto first_bucket = static_cast<std::uint32_t>(ranges.empty_buckets());
    for (std::size_t begin = 0; begin < items.size(); begin += batch_items) {
      const std::size_t end = smaller(items.size(), begin + batch_items);
      std::uint64_t counts = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const radix_key key = radix_key_of_(items[i]);
        std::uint32_t bucket = first_bucket;
        for (const radix_key last : last_keys) bucket += key > last ? 1 : 0;
        next[bucket][(counts >> (count_bits * bucket)) & max_count] = items[i];
        counts += std::uint64_t{1} << (count_bits * bucket);
      }
      for (std::size_t bucket = 0; bucket < max_plain_buckets; ++bucket)
        next[bucket] += (counts >> (count_bits * bucket)) & max_count;
    }
    for (std::size_t b = 0; b < destinations.size(); ++b) destinations[b] = next[b];
  }

  tasks& workers_;
  std::size_t buckets_;
  RadixKeyOf radix_key_of_;
  std::vector<task_state> tasks_;
};

}  // namespace longshore::detail
