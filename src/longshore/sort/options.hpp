// The options of a bucket sort, and the times of its phases.
#pragma once

#include <longshore/sort/strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace longshore {

class tasks;

/// How the range of keys is divided among the ranks.
enum class bucket_splitters {
  equal_width,  ///< parts of equal width, as in ISx: fast, for evenly spread keys
  sampled       ///< parts with about equally many items, from a sample: for any keys
};

struct bucket_options {
  exchange_strategy exchange = exchange_strategy::automatic;
  exchange_order order = exchange_order::round_robin;
  /// for integer keys: all keys are in [0, max_key). If 0, the sort finds the range of the keys
  std::uint64_t max_key = 0;
  std::uint64_t seed = 122222;  ///< for random orders and for samples
  /// items with equal keys keep the order of (rank, position) of the input
  bool stable = false;
  bucket_splitters splitters = bucket_splitters::equal_width;
  /// with sampled splitters: all items with equal keys go to one rank, however many there are
  bool together = false;
  /// for measurements: a barrier before the exchange, so that the time of the exchange does not
  /// include the wait for late ranks
  bool barrier_before_exchange = false;
  /// the tasks that count, bucketize and sort, which must outlive the sorter; if null, only the
  /// calling thread works
  tasks* workers = nullptr;
  /// a name for the kind of keys, which the ranks compare; for programs that sort keys of one type
  /// as another type. If empty, the name of the type of the keys
  std::string keys = {};
};

/// The seconds of one rank in each phase of a sort. The phases are the same for all exchanges.
struct bucket_phases {
  double count = 0;      ///< finds the range of keys and the splitters, counts the keys per bucket
  double offsets = 0;    ///< exchanges the counts, allocates memory, computes where blocks will lie
  double bucketize = 0;  ///< moves the items to their buckets
  /// moves the blocks until all ranks have all their blocks; includes the wait for ranks that
  /// bucketize longer, unless there is a barrier before the exchange
  double exchange = 0;
  double local_sort = 0;
};

/// Up to this number of buckets, a sorter stores each item directly into its bucket. With more, it
/// collects a cache line of items per bucket and stores the line past the caches. At most 4,
/// because the sorter counts the items of these buckets in one register (bucketizer.hpp).
inline constexpr std::size_t max_plain_buckets = 4;

}  // namespace longshore
