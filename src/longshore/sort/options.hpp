// The options of a bucket sort, and the seconds of its phases.
#pragma once

#include <longshore/sort/strategy.hpp>

#include <cstddef>
#include <cstdint>

namespace longshore {

class tasks;

/// Where one rank's keys end and the next one's begin.
enum class bucket_splitters {
  /// the range of keys in equal parts (as ISx): right for keys that are spread evenly, and quick
  equal_width,
  sampled  ///< by a sample of the keys: each rank gets about as many, whatever they are
};

struct bucket_options {
  exchange_strategy exchange = exchange_strategy::automatic;
  exchange_order order = exchange_order::round_robin;
  /// keys are in [0, max_key), integers only; 0: the range is that of the keys there are
  std::uint64_t max_key = 0;
  std::uint64_t seed = 122222;  ///< of a random order, and of samples
  /// items of one key stay in the order of rank and place that they were given in
  bool stable = false;
  bucket_splitters splitters = bucket_splitters::equal_width;
  /// with sampled splitters: all items of one key come to one rank, however many they are
  bool together = false;
  /// for measuring: ranks meet before the exchange, whose time then has no waiting for late ones
  bool meet = false;
  /// that count, bucketize and sort; none: the calling thread. They outlive the sorter
  tasks* workers = nullptr;
};

/// Seconds of one rank in the phases of one sort. The cut is the same for all exchanges. count:
/// which keys there are, splitters, keys per bucket. offsets: telling each other how many come,
/// making room, and where blocks go as far as that can be known before. bucketize: items to where
/// their buckets are. exchange: bringing them over, until all ranks have theirs (and with it,
/// unless ranks meet before, the waiting for those that bucketized longer). local_sort.
struct bucket_phases {
  double count = 0, offsets = 0, bucketize = 0, exchange = 0, local_sort = 0;
};

/// With at most so many buckets a sorter stores each item where it belongs. With more it collects a
/// cache line of items for each bucket and stores the line past the caches.
inline constexpr std::size_t most_plain_buckets = 4;

}  // namespace longshore
