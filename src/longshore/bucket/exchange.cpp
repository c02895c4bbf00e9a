#include <longshore/bucket/exchange.hpp>
#include <longshore/bucket/order.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace longshore::bucketing {
namespace {

// Where each block begins, in bytes; one more element than blocks.
void block_starts(std::span<const std::size_t> counts, std::size_t key_bytes, std::vector<std::size_t>& starts) {
  starts.resize(counts.size() + 1);
  for (std::size_t rank = 0; rank < counts.size(); ++rank) starts[rank + 1] = starts[rank] + counts[rank] * key_bytes;
}

void copy_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

class put_exchange final : public exchange {
 public:
  put_exchange(team& team, std::vector<int> targets)
      : exchange(team), targets_(std::move(targets)), received_(team.allocate(sizeof(std::int64_t))) {}

  void run(const blocks& what) override {
    block_starts(what.outgoing_counts, what.key_bytes, starts_);
    const int me = team_.rank();
    const std::size_t mine = what.outgoing_counts[me];
    copy_block(what.incoming.local() + claim(me, mine) * what.key_bytes, what.outgoing + starts_[me], mine * what.key_bytes);
    for (const int target : targets_) {
      const std::size_t count = what.outgoing_counts[target];
      if (count == 0) continue;
      what.incoming.put_start(target, claim(target, count) * what.key_bytes, what.outgoing + starts_[target],
                              count * what.key_bytes);
      count_message(target, sizeof(std::int64_t));
      count_message(target, count * what.key_bytes);
    }
    what.incoming.quiet();
    team_.barrier();
    // Nobody claims again before all have met once more.
    received_->fetch_add(
        me, 0,
        -static_cast<std::int64_t>(std::accumulate(what.incoming_counts.begin(), what.incoming_counts.end(), std::size_t{0})));
  }

 private:
  // Reserves places for `count` keys at a target; returns the first.
  std::size_t claim(int target, std::size_t count) {
    return static_cast<std::size_t>(received_->fetch_add(target, 0, static_cast<std::int64_t>(count)));
  }

  std::vector<int> targets_;
  std::unique_ptr<segment> received_;  // keys that have a place here
  std::vector<std::size_t> starts_;
};

class alltoallv_exchange final : public exchange {
 public:
  explicit alltoallv_exchange(team& team) : exchange(team) {}

  void run(const blocks& what) override {
    team_.alltoallv(what.outgoing, what.outgoing_counts, what.incoming.local(), what.incoming_counts, what.key_bytes);
    for (int target = 0; target < team_.size(); ++target)
      if (target != team_.rank() && what.outgoing_counts[target] > 0)
        count_message(target, what.outgoing_counts[target] * what.key_bytes);
    team_.barrier();
  }
};

class sendrecv_exchange final : public exchange {
 public:
  sendrecv_exchange(team& team, std::vector<int> targets) : exchange(team), targets_(std::move(targets)) {
    std::vector<channel_end> ends;
    for (int peer = 0; peer < team.size(); ++peer)
      if (peer != team.rank()) ends.push_back({peer, slot_bytes});
    channels_ = team.open_channels(ends, ends, slots);
    arrived_.resize(ends.size());
  }

  void run(const blocks& what) override {
    block_starts(what.outgoing_counts, what.key_bytes, starts_);
    block_starts(what.incoming_counts, what.key_bytes, places_);
    const int me = team_.rank();
    copy_block(what.incoming.local() + places_[me], what.outgoing + starts_[me], starts_[me + 1] - starts_[me]);
    std::fill(arrived_.begin(), arrived_.end(), std::size_t{0});
    std::size_t expected = places_.back() - (places_[me + 1] - places_[me]);
    std::size_t round = 0, sent = 0;  // `sent` bytes of the block of targets_[round]
    while (round < targets_.size() || expected > 0) {
      for (waiter wait(team_, "room for keys, or keys");; wait.pause()) {
        const bool moved = send_some(what.outgoing, round, sent);
        if (receive_some(what.incoming.local(), expected) || moved) break;
      }
    }
    team_.barrier();
  }

 private:
  static constexpr std::size_t slot_bytes = std::size_t{32} << 10;
  static constexpr int slots = 2;

  // Channels are in rank order without the own rank.
  [[nodiscard]] std::size_t channel_of(int peer) const noexcept {
    return static_cast<std::size_t>(peer < team_.rank() ? peer : peer - 1);
  }

  // Sends what there is room for, to one target after the other. Returns whether anything went or ended.
  bool send_some(const std::byte* outgoing, std::size_t& round, std::size_t& sent) {
    if (round == targets_.size()) return false;
    const int target = targets_[round];
    const std::size_t begin = starts_[target], bytes = starts_[target + 1] - begin;
    bool moved = false;
    channel_sender& to = channels_->sender(channel_of(target));
    while (sent < bytes) {
      std::byte* const slot = to.reserve();
      if (slot == nullptr) return moved;
      const std::size_t part = std::min(slot_bytes, bytes - sent);
      std::memcpy(slot, outgoing + begin + sent, part);
      to.commit(part);
      count_message(target, part);
      sent += part;
      moved = true;
    }
    ++round;
    sent = 0;
    return true;
  }

  bool receive_some(std::byte* incoming, std::size_t& expected) {
    bool moved = false;
    for (std::size_t channel = 0; channel < arrived_.size(); ++channel) {
      channel_receiver& from = channels_->receiver(channel);
      const std::size_t begin = places_[from.peer()], bytes = places_[from.peer() + 1] - begin;
      if (arrived_[channel] == bytes) continue;
      while (const auto message = from.front()) {
        copy_block(incoming + begin + arrived_[channel], message->data(), message->size());
        arrived_[channel] += message->size();
        expected -= message->size();
        from.release();
        moved = true;
        if (arrived_[channel] == bytes) break;
      }
    }
    return moved;
  }

  std::vector<int> targets_;
  std::unique_ptr<channel_set> channels_;
  std::vector<std::size_t> starts_, places_;  // bytes, by rank
  std::vector<std::size_t> arrived_;          // bytes, by channel
};

}  // namespace

std::unique_ptr<exchange> make_exchange(team& team, bucket_exchange strategy, exchange_order order, std::uint64_t seed) {
  if (const auto reason = why_not(strategy, order)) fail(errc::unsupported, "bucket sort: {}", *reason);
  auto targets = targets_of(order, team.rank(), team.size(), seed);
  switch (strategy) {
    case bucket_exchange::put: return std::make_unique<put_exchange>(team, std::move(targets));
    case bucket_exchange::sendrecv: return std::make_unique<sendrecv_exchange>(team, std::move(targets));
    default: return std::make_unique<alltoallv_exchange>(team);
  }
}

}  // namespace longshore::bucketing
