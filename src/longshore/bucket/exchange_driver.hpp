// What a bucket sort does that needs no types: who gets how many items, which exchange brings them, and how long each phase took.
#pragma once

#include <longshore/bucket/exchange.hpp>
#include <longshore/bucket/room.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace longshore {

/// Where one rank's keys end and the next one's begin.
enum class bucket_splitters {
  equal_width,  ///< the range of keys in equal parts (as ISx): right for keys that are spread evenly, and quick
  sampled       ///< by a sample of the keys: each rank gets about as many, whatever they are
};

struct bucket_options {
  exchange_strategy exchange = exchange_strategy::automatic;
  exchange_order order = exchange_order::round_robin;
  std::uint64_t max_key = 0;    ///< keys are in [0, max_key), integers only; 0: the range is that of the keys there are
  std::uint64_t seed = 122222;  ///< of a random order, and of samples
  bool stable = false;          ///< items of one key stay in the order of rank and place that they were given in
  bucket_splitters splitters = bucket_splitters::equal_width;
  bool together = false;     ///< with sampled splitters: all items of one key come to one rank, however many they are
  bool meet = false;         ///< for measuring: ranks meet before the exchange, whose time then has no waiting for late ones
  tasks* workers = nullptr;  ///< that count, bucketize and sort; none: the calling thread. They outlive the sorter
};

/// Seconds of one rank in the phases of one sort. The cut is the same for all exchanges. count: which keys there are, splitters, keys
/// per bucket. offsets: telling each other how many come, making room, and where blocks go as far as that can be known before.
/// bucketize: items to where their buckets are. exchange: bringing them over, until all ranks have theirs (and with it, unless ranks meet before, the waiting for those that bucketized longer).
/// local_sort.
struct bucket_phases {
  double count = 0, offsets = 0, bucketize = 0, exchange = 0, local_sort = 0;
};

namespace bucketing {

class exchange_driver {
 public:
  /// Collective. Throws errc::unsupported, on all ranks, for what why_not refuses, and for a stable sort by an exchange that is not
  /// deterministic.
  exchange_driver(team& team, const bucket_options& options, std::size_t item_bytes);

  /// A new operation begins; the phases are timed from here on.
  void begin();
  void end_phase(double bucket_phases::*phase);
  /// What was found to be wrong with a key of this rank, before agree().
  void refuse_key(std::string why) { refused_ = std::move(why); }
  /// Collective. From counts.outgoing to all else: how many items come, the exchange made ready for them. Throws errc::usage where a key
  /// was refused, errc::peer_failed on the other ranks.
  void agree(std::size_t items);
  void move(const std::byte* outgoing, const arrival& arrived) { exchange_->run(outgoing, arrived); }
  void end(std::size_t items);

  [[nodiscard]] block_counts& counts() noexcept { return counts_; }
  [[nodiscard]] const std::vector<std::size_t>& outgoing_starts() const noexcept { return starts_; }  ///< in items
  [[nodiscard]] bucketing::exchange& way() const noexcept { return *exchange_; }
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] tasks& workers() noexcept { return options_.workers != nullptr ? *options_.workers : alone_; }
  [[nodiscard]] const bucket_options& options() const noexcept { return options_; }
  [[nodiscard]] const bucket_phases& phases() const noexcept { return phases_; }
  /// Seconds of the phases in which this rank waited for others (team::waited_seconds).
  [[nodiscard]] const bucket_phases& waits() const noexcept { return waits_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  /// Of what moved, that of the phase exchange; the rest belongs to the offsets.
  [[nodiscard]] const traffic& moved_in_exchange() const noexcept { return moved_in_exchange_; }
  [[nodiscard]] exchange_strategy strategy() const noexcept { return strategy_; }

 private:
  void choose(std::size_t items);

  team& team_;
  bucket_options options_;
  std::size_t item_bytes_;
  tasks alone_;
  exchange_strategy strategy_;
  std::unique_ptr<bucketing::exchange> exchange_;
  block_counts counts_;
  std::vector<std::size_t> starts_;
  std::string refused_;
  double began_ = 0, waited_before_ = 0;
  bucket_phases phases_, waits_;
  traffic before_, before_exchange_, moved_, moved_in_exchange_;
};

}  // namespace bucketing
}  // namespace longshore
