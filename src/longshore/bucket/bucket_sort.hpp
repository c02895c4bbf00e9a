// bucket_sort: keys that are spread over the ranks come back sorted over the ranks. The range of keys is cut into one bucket
// per rank; each rank counts, puts its keys in bucket order, exchanges the buckets and sorts what it received. The scheme is
// that of ISx (U. Hanebutte, J. Hemstad, PGAS 2015), which however only makes a histogram in the end.
#pragma once

#include <longshore/bucket/bucketize.hpp>
#include <longshore/bucket/exchange.hpp>
#include <longshore/bucket/key_buckets.hpp>
#include <longshore/bucket/radix_sort.hpp>
#include <longshore/bucket/strategy.hpp>
#include <longshore/bucket/verify.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

namespace longshore {

struct bucket_options {
  bucket_exchange exchange = bucket_exchange::put;
  exchange_order order = exchange_order::round_robin;
  std::uint64_t max_key =
      0;  ///< keys are in [0, max_key), which is cut into equal buckets; 0: the range is that of the keys there are
  std::uint64_t seed = 122222;  ///< of a random order
};

/// Seconds of one rank in the phases of one sort. The cut is the same for all exchanges: to exchange is to bring the keys
/// over, and ends when all ranks have theirs; telling each other how many come, and making room, belongs to the offsets.
struct bucket_phases {
  double count = 0, offsets = 0, bucketize = 0, exchange = 0, local_sort = 0;
};

/// Sorts often: buffers grow when they must, and are kept.
///
///     longshore::bucket_sorter<std::uint32_t> sorter(team, {.max_key = 1 << 28});
///     std::span<const std::uint32_t> mine = sorter.sort(keys);
///
/// Cost: as make_exchange says, and before it an alltoall of 8 bytes per pair and an allreduce of 16 bytes (32 where the range
/// is to be found). Memory per rank, in keys: the largest received by any rank (exactly counted, 1/64 more when it grows) and
/// the larger of given and received.
template <bucket_key Key>
class bucket_sorter {
 public:
  /// Collective. Options are the same on all ranks. Throws, on all ranks, errc::unsupported for what why_not refuses and
  /// errc::usage for a max_key beyond the type.
  explicit bucket_sorter(team& team, bucket_options options = {})
      : team_(team),
        options_(options),
        exchange_(bucketing::make_exchange(team, options.exchange, options.order, options.seed)),
        lines_(static_cast<std::size_t>(team.size())),
        outgoing_counts_(static_cast<std::size_t>(team.size())),
        incoming_counts_(outgoing_counts_.size()),
        starts_(outgoing_counts_.size()) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Key>::max());
    if (options.max_key > 0 && options.max_key - 1 > most)
      fail(errc::usage, "bucket sort: max_key {} is more than the keys' type holds: at most {}", options.max_key, most);
  }

  /// Collective. Sorts `keys` (any number, different on each rank) over the ranks: returns this rank's part, ascending; no key
  /// of a rank is above one of a later rank. The result lies in the sorter and is valid until its next sort or its end; `keys`
  /// stay as they are. Throws errc::usage for a key outside [0, max_key) (errc::peer_failed on the other ranks; the sorter can
  /// be used again), and errc::out_of_memory, on all ranks, when there is no room for what a rank receives.
  std::span<const Key> sort(std::span<const Key> keys) {
    phases_ = {};
    moved_ = {};
    const traffic before = exchange_->sent();
    double begin = team_.now();
    const auto end_phase = [&](double& seconds) {
      const double now = team_.now();
      seconds = now - begin;
      begin = now;
    };

    const auto buckets = cut_range(keys);
    const std::size_t bad = buckets.count(keys, outgoing_counts_);
    end_phase(phases_.count);

    agree_on_room(keys, bad);
    end_phase(phases_.offsets);

    // With one rank the keys are in bucket order as they are.
    const Key* outgoing = keys.data();
    if (team_.size() > 1) {
      bucketing::bucketize(buckets, keys, starts_, scratch(), lines_);
      outgoing = scratch();
    }
    end_phase(phases_.bucketize);

    exchange_->run({reinterpret_cast<const std::byte*>(outgoing), outgoing_counts_, *incoming_, incoming_counts_, sizeof(Key)});
    end_phase(phases_.exchange);

    const auto range = buckets.range_of(team_.rank());
    const std::span<Key> received(reinterpret_cast<Key*>(incoming_->local()), received_);
    const std::span<const Key> sorted = radix_.sort(received, scratch(), range.first, range.span);
    end_phase(phases_.local_sort);

    account(before, keys.size());
    return sorted;
  }

  /// Of the last sort.
  [[nodiscard]] const bucket_phases& phases() const noexcept { return phases_; }
  /// What this rank moved in the last sort: payload is its keys; counts and claims of places are wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }

 private:
  [[nodiscard]] Key* scratch() const noexcept { return reinterpret_cast<Key*>(scratch_.data()); }

  [[nodiscard]] bucketing::key_buckets<Key> cut_range(std::span<const Key> keys) {
    if (options_.max_key > 0) return {Key{0}, static_cast<Key>(options_.max_key - 1), team_.size()};
    // Extremes over all ranks in one reduction: the largest ~x belongs to the smallest x.
    constexpr auto none = std::numeric_limits<std::int64_t>::min();
    std::array<std::int64_t, 2> extremes{none, none};
    if (!keys.empty()) {
      const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
      extremes = {bucketing::ordered_image(*most), ~bucketing::ordered_image(*least)};
    }
    team_.allreduce(std::span<std::int64_t>(extremes), reduction::max);
    const std::int64_t highest = extremes[0], lowest = ~extremes[1];
    if (highest < lowest) return {Key{0}, Key{0}, team_.size()};  // no rank has a key
    return {bucketing::key_of_image<Key>(lowest), bucketing::key_of_image<Key>(highest), team_.size()};
  }

  // Counts of all for all; then room for what comes. `bad`: position of a key outside the range, or keys.size().
  void agree_on_room(std::span<const Key> keys, std::size_t bad) {
    if (bad < keys.size()) std::fill(outgoing_counts_.begin(), outgoing_counts_.end(), std::size_t{0});
    team_.alltoall(std::as_bytes(std::span(outgoing_counts_)), std::as_writable_bytes(std::span(incoming_counts_)));
    std::exclusive_scan(outgoing_counts_.begin(), outgoing_counts_.end(), starts_.begin(), std::size_t{0});
    received_ = std::accumulate(incoming_counts_.begin(), incoming_counts_.end(), std::size_t{0});
    std::array<std::int64_t, 2> most{static_cast<std::int64_t>(received_), bad < keys.size() ? team_.rank() + 1 : 0};
    team_.allreduce(std::span<std::int64_t>(most), reduction::max);
    if (bad < keys.size())
      fail(errc::usage,
           "bucket sort on rank {}: key {} at position {} is outside the range: it must be from 0 to max_key - 1 = {}",
           team_.rank(), keys[bad], bad, options_.max_key - 1);
    if (most[1] > 0)
      fail(errc::peer_failed, "bucket sort on rank {} was given up: rank {} has a key outside the range", team_.rank(),
           most[1] - 1);
    make_room(static_cast<std::size_t>(most[0]), keys.size());
  }

  void make_room(std::size_t most_received, std::size_t given) {
    const std::size_t incoming_bytes = most_received * sizeof(Key);
    if (!incoming_ || incoming_->size_bytes() < incoming_bytes) {  // the same on all ranks
      incoming_.reset();
      incoming_ = team_.allocate(incoming_bytes + incoming_bytes / 64);
    }
    const std::size_t scratch_bytes = std::max(given, received_) * sizeof(Key);
    if (scratch_.size_bytes() < scratch_bytes) {
      scratch_ = pages();
      scratch_ = pages(scratch_bytes + scratch_bytes / 64, true);
    }
  }

  void account(const traffic& before, std::size_t keys) {
    const traffic& after = exchange_->sent();
    moved_ = {after.messages - before.messages, keys * sizeof(Key), after.wire_bytes - before.wire_bytes,
              after.offnode_bytes - before.offnode_bytes};
    for (int peer = 0; peer < team_.size(); ++peer) {  // the counts
      if (peer == team_.rank()) continue;
      moved_.messages += 1;
      moved_.wire_bytes += sizeof(std::size_t);
      if (!team_.nodes().is_local(peer)) moved_.offnode_bytes += sizeof(std::size_t);
    }
  }

  team& team_;
  bucket_options options_;
  std::unique_ptr<bucketing::exchange> exchange_;
  bucketing::line_scatter<Key> lines_;
  bucketing::radix_sorter<Key> radix_;
  std::vector<std::size_t> outgoing_counts_, incoming_counts_, starts_;  // keys, by rank
  std::unique_ptr<segment> incoming_;
  pages scratch_;             // keys in bucket order; then for sorting
  std::size_t received_ = 0;  // keys
  bucket_phases phases_;
  traffic moved_;
};

/// Collective. One sort with a sorter of its own: returns this rank's part. See bucket_sorter, which is better where more than
/// one follows.
template <bucket_key Key>
[[nodiscard]] std::vector<Key> bucket_sort(team& team, const std::vector<Key>& keys, bucket_options options = {}) {
  bucket_sorter<Key> sorter(team, options);
  const std::span<const Key> sorted = sorter.sort(keys);
  std::vector<Key> mine(sorted.begin(), sorted.end());
  team.barrier();
  return mine;
}

}  // namespace longshore
