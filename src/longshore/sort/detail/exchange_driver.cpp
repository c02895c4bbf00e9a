// Runs the phases of a bucket sort that do not depend on the item type. bucket_sorter calls these
// functions in the order begin, exchange_counts, end, with end_phase after each phase.
#include <longshore/sort/detail/exchange_driver.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace longshore::detail {

namespace {

common_arguments arguments_of(const bucket_options& options, std::size_t item_bytes,
                              std::string_view keys) {
  const auto word = [](bool is_set) { return is_set ? "yes" : "no"; };
  common_arguments same;
  same.add("keys", options.keys.empty() ? keys : options.keys)
      .add("bytes per item:", item_bytes)
      .add("exchange", name_of(options.exchange))
      .add("order", name_of(options.order))
      .add("max_key", options.max_key)
      .add("seed", options.seed)
      .add("stable", word(options.stable))
      .add("sampled splitters", word(options.splitters == bucket_splitters::sampled))
      .add("together", word(options.together))
      .add("barrier_before_exchange", word(options.barrier_before_exchange));
  return same;
}

}  // namespace

exchange_driver::exchange_driver(team& team, const bucket_options& options, std::size_t item_bytes,
                                 std::string_view keys, const shared_function<void()>& check)
    : team_(team),
      options_(options),
      item_bytes_(item_bytes),
      strategy_(options.exchange),
      counts_(team.size()),
      starts_(static_cast<std::size_t>(team.size())) {
  agree_on_call(team, "a bucket sort", arguments_of(options, item_bytes, keys), check);
  if (const auto reason = why_not(options.exchange, options.order, exchange_layout_of(team)))
    fail(errc::unsupported, "bucket sort: {}", *reason);
  if (options.stable && !is_deterministic(options.exchange))
    fail(errc::unsupported,
         "bucket sort: with exchange {} the order of incoming items depends on timing: a stable "
         "sort needs put-scan, direct, sendrecv, alltoallv, channel, two-hop or auto",
         name_of(options.exchange));
  if (strategy_ != exchange_strategy::automatic)
    exchange_ = make_block_exchange(
        team, {.strategy = strategy_, .order = options.order, .seed = options.seed}, item_bytes);
}

void exchange_driver::begin() {
  phases_ = waits_ = {};
  numbers_ = {};
  key_refusal_.clear();
  sent_before_ = exchange_ ? exchange_->sent() : traffic{};
  phase_began_ = team_.now();
  waited_before_phase_ = team_.waited_seconds();
}

void exchange_driver::end_phase(double bucket_phases::*phase) {
  const double now = team_.now();
  phases_.*phase = now - phase_began_;
  phase_began_ = now;
  const double waited = team_.waited_seconds();
  waits_.*phase = waited - waited_before_phase_;
  waited_before_phase_ = waited;
  if (phase == &bucket_phases::bucketize) sent_before_exchange_ = exchange_->sent();
}

bool exchange_driver::exchange_counts(std::size_t items, bool divides) {
  const bool refused = !key_refusal_.empty();
  if (refused) std::fill(counts_.outgoing.begin(), counts_.outgoing.end(), std::size_t{0});
  exchange_numbers(counts_.outgoing, counts_.incoming);
  std::exclusive_scan(counts_.outgoing.begin(), counts_.outgoing.end(), starts_.begin(),
                      std::size_t{0});
  counts_.received =
      std::accumulate(counts_.incoming.begin(), counts_.incoming.end(), std::size_t{0});
  const std::size_t my_largest_block =
      *std::max_element(counts_.outgoing.begin(), counts_.outgoing.end());
  std::array<std::int64_t, 5> maxima{static_cast<std::int64_t>(counts_.received),
                                     refused ? team_.rank() + 1 : 0,
                                     static_cast<std::int64_t>(items),
                                     static_cast<std::int64_t>(my_largest_block), divides ? 0 : 1};
  team_.allreduce(std::span<std::int64_t>(maxima), reduction::max);
  if (refused) fail(errc::usage, "bucket sort on rank {}: {}", team_.rank(), key_refusal_);
  if (maxima[1] > 0)
    fail(errc::peer_failed,
         "bucket sort on rank {} was cancelled: rank {} has a key outside the range", team_.rank(),
         maxima[1] - 1);
  counts_.max_received = static_cast<std::size_t>(maxima[0]);
  counts_.max_block = static_cast<std::size_t>(maxima[3]);
  if (options_.exchange == exchange_strategy::automatic)
    choose_strategy(static_cast<std::size_t>(maxima[2]));
  exchange_->prepare(counts_);
  return maxima[4] == 0;
}

std::span<std::size_t> exchange_driver::outgoing_counts() noexcept { return counts_.outgoing; }

void exchange_driver::exchange_numbers(const std::vector<std::size_t>& to,
                                       std::vector<std::size_t>& from) {
  const auto sent = std::as_bytes(std::span(to));
  team_.alltoall(sent, std::as_writable_bytes(std::span(from)));
  count_small_messages(numbers_, sent.size() / static_cast<std::size_t>(team_.size()));
}

// Counts one message to each other rank.
void exchange_driver::count_small_messages(traffic& moved, std::size_t bytes) const noexcept {
  for (int peer = 0; peer < team_.size(); ++peer) {
    if (peer == team_.rank()) continue;
    moved.messages += 1;
    moved.wire_bytes += bytes;
    if (!team_.nodes().is_local(peer)) moved.offnode_bytes += bytes;
  }
}

void exchange_driver::choose_strategy(std::size_t max_items_of_rank) {
  const std::size_t block_bytes =
      max_items_of_rank * item_bytes_ / static_cast<std::size_t>(team_.size());
  const auto chosen = choose_exchange(team_, block_bytes, options_.stable);
  if (exchange_ && chosen == strategy_) return;
  exchange_.reset();
  exchange_ = make_block_exchange(team_, {.strategy = chosen, .seed = options_.seed}, item_bytes_);
  strategy_ = chosen;
  sent_before_ = {};
}

void exchange_driver::end(std::size_t items) {
  moved_ = exchange_->sent() - sent_before_;
  moved_in_exchange_ = exchange_->sent() - sent_before_exchange_;
  moved_.payload_bytes = moved_in_exchange_.payload_bytes = items * item_bytes_;
  moved_ += numbers_;
}

}  // namespace longshore::detail
