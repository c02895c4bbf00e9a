// Kernel loggp: times trains of messages between two ranks, over a channel or by puts, and computes
// the parameters of the LogGP model (A. Alexandrov, M. Ionescu, K. Schauser, C. Scheiman: LogGP:
// incorporating long messages into the LogP model, SPAA 1995) of this library's channels and puts.
//
// In the model, a message of s bytes costs its sender o_s seconds, travels for L + (s - 1) G, and
// costs its receiver o_r. The shortest gap between two messages of a sender is g + (s - 1) G.
//
// PRTT(n, d, s) is the time of n messages of s bytes, d seconds apart, and one reply of the same
// size. The method, which needs only the sender's clock, is that of T. Hoefler, A. Lichei, W. Rehm
// (Low-overhead LogGP parameter assessment for modern interconnection networks, IPDPS 2007, as in
// Netgauge):
//
//   PRTT(1, 0, s) = 2 L + 2 (o_s + o_r) + 2 (s - 1) G
//   PRTT(n, 0, s) = PRTT(1, 0, s) + (n - 1) (g + (s - 1) G)   a line over s gives G and g
//   PRTT(n, d, s) = PRTT(1, 0, s) + (n - 1) (d + o_s)         if d is longer than the gap
#include "patterns/control/kernels.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/halo/rank_locations.hpp>
#include <longshore/transport/waiter.hpp>

#include "facts/binding.hpp"
#include "harness/statistics.hpp"
#include "patterns/control/gap_fit.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>

namespace longshore::bench {
namespace {

constexpr int train = 16;  // the number of messages in a train: n of the model
constexpr std::array<std::size_t, 6> sizes{8, 64, 512, 4096, 16384, 65536};
constexpr std::size_t shortest = sizes.front(), longest = sizes.back();

struct chosen_pair {
  int first = 0, second = 0;
  std::string level;  // the outermost level of the hardware that separates the ranks
};

// Rank 0 and its partner.
chosen_pair choose_pair(team& ranks, const std::string& pair) {
  const auto locations = find_rank_locations(ranks, this_host());
  const node_map& nodes = ranks.nodes();
  const auto level_name = [&](int other) {
    const std::size_t level = locations.level_between(nodes, 0, other);
    return level < location_levels.size() ? std::string(location_levels[level])
                                          : std::string("core");
  };
  if (pair == "remote") {
    if (nodes.node_count() < 2) fail(errc::unsupported, "{}", all_on_one_node);
    return {0, nodes.leaders()[1], level_name(nodes.leaders()[1])};
  }
  chosen_pair near, far;
  std::size_t closest = 0, farthest = 0;
  for (int other = 1; other < ranks.size(); ++other) {
    if (nodes.node_of(other) != nodes.node_of(0)) continue;
    const std::size_t level = locations.level_between(nodes, 0, other);
    if (near.second == 0 || level > closest) near = {0, other, level_name(other)}, closest = level;
    if (far.second == 0 || level < farthest) far = {0, other, level_name(other)}, farthest = level;
  }
  if (near.second == 0)
    fail(errc::unsupported, "rank 0 is alone on its node: no other is {}", pair);
  if (pair == "far" && farthest == closest)
    fail(errc::unsupported,
         "all ranks of a node are equally far from each other: the pair is that of near");
  return pair == "near" ? near : far;
}

// One end of a pair of ranks. It sends and receives messages of one size at a time.
class link {
 public:
  virtual ~link() = default;
  virtual void send(std::size_t bytes, const std::byte* from) = 0;
  virtual void finish() {}  // called after the last message of a train
  virtual void receive(std::size_t bytes, std::byte* to) = 0;  // waits for the oldest message
  virtual void await_train(std::size_t bytes, std::byte* to, int count) {
    for (int i = 0; i < count; ++i) receive(bytes, to);
  }
};

class channel_link final : public link {
 public:
  channel_link(team& ranks, const chosen_pair& pair) : team_(ranks) {
    std::vector<channel_end> ends;
    if (ranks.rank() == pair.first) ends.push_back({pair.second, longest});
    if (ranks.rank() == pair.second) ends.push_back({pair.first, longest});
    // Between nodes, no credit travels alone: the reply to a train carries the credits, and they
    // are due when half of the slots are used.
    const bool is_near = ranks.nodes().node_of(pair.first) == ranks.nodes().node_of(pair.second);
    channels_ = ranks.open_channels(ends, ends, is_near ? train : 2 * train + 2);
  }
  void send(std::size_t bytes, const std::byte* from) override {
    channel_sender& to = channels_->sender(0);
    std::byte* slot = nullptr;
    for (waiter wait(team_, "a free slot of a train", to.peer()); (slot = to.reserve()) == nullptr;
         wait.pause()) {
    }
    copy_message(team_, to.peer(), slot, from, bytes);
    to.commit(bytes);
  }
  void receive(std::size_t bytes, std::byte* to) override {
    channel_receiver& from = channels_->receiver(0);
    std::optional<std::span<const std::byte>> message;
    for (waiter wait(team_, "a message of a train", from.peer()); !(message = from.front());
         wait.pause()) {
    }
    copy_message(team_, from.peer(), to, message->data(), std::min(bytes, message->size()));
    from.release();
  }

 private:
  team& team_;
  std::unique_ptr<channel_set> channels_;
};

// Puts the messages of a train side by side into the memory of the peer. When these puts are
// complete, a flag with the number of messages so far follows.
class put_link final : public link {
 public:
  put_link(team& ranks, const chosen_pair& pair)
      : team_(ranks),
        peer_(ranks.rank() == pair.first ? pair.second : pair.first),
        memory_(ranks.allocate(flag_at + 64)) {}
  void send(std::size_t bytes, const std::byte* from) override {
    memory_->put_start(peer_, static_cast<std::size_t>(index_in_train_++ % train) * longest, from,
                       bytes);
    ++sent_;
  }
  void finish() override {
    memory_->quiet();
    memory_->put(peer_, flag_at, &sent_, sizeof(sent_));
    memory_->quiet();
    index_in_train_ = 0;
  }
  void receive(std::size_t bytes, std::byte* to) override { await_train(bytes, to, 1); }
  void await_train(std::size_t bytes, std::byte* to, int count) override {
    received_ += count;
    const std::atomic_ref<std::int64_t> flag(
        *reinterpret_cast<std::int64_t*>(memory_->local() + flag_at));
    waiter wait(team_, "a train of puts", peer_);
    while (flag.load(std::memory_order_acquire) < received_) {
      team_.progress();
      wait.pause();
    }
    copy_message(team_, peer_, to, memory_->local() + static_cast<std::size_t>(count - 1) * longest,
                 bytes);
  }

 private:
  static constexpr std::size_t flag_at = train * longest;
  team& team_;
  int peer_;
  std::unique_ptr<segment> memory_;
  int index_in_train_ = 0;
  std::int64_t sent_ = 0, received_ = 0;
};

class loggp_measurement final : public measurement {
 public:
  loggp_measurement(team& ranks, const std::string& over, const std::string& pair)
      : team_(ranks), pair_(choose_pair(ranks, pair)), message_(longest), reply_(longest) {
    for (std::size_t i = 0; i < longest; ++i) message_[i] = static_cast<std::byte>(mix_bits(i));
    if (over == "channel")
      link_ = std::make_unique<channel_link>(ranks, pair_);
    else
      link_ = std::make_unique<put_link>(ranks, pair_);
    receives_ = over == "channel";
  }

  void run() override {
    if (!takes_part()) return;
    for (const std::size_t bytes : sizes) {
      time_train(1, 0, bytes, single_[bytes]);
      time_train(train, 0, bytes, trains_[bytes]);
    }
    // The pause is longer than any gap of short messages. So the rest of the time is the cost of
    // the sender.
    const double pause =
        single_.at(shortest).empty() ? 1e-5 : std::max(2e-6, 2 * undisturbed(single_.at(shortest)));
    time_train(train, pause, shortest, delayed_, &delays_);
    if (receives_) time_receiving();
  }
  [[nodiscard]] bool verify() override {
    if (!takes_part()) return true;
    // Later trains overwrite only the first word of the longest message. This word is the number of
    // the train, which time_train() compares.
    constexpr std::size_t rest = sizeof(train_number_);
    return is_right_ && train_number_ > 0 &&
           std::memcmp(reply_.data() + rest, message_.data() + rest, longest - rest) == 0;
  }
  [[nodiscard]] traffic moved() const override {
    if (!takes_part()) return {};
    const bool is_first = team_.rank() == pair_.first;
    traffic moved;
    const auto count = [&](std::size_t messages, std::size_t bytes) {
      moved.messages += messages;
      moved.payload_bytes += messages * bytes;
    };
    for (const std::size_t bytes : sizes) count(is_first ? 1 + train : 2, bytes);
    count(is_first ? train : 1, shortest);                 // the train with pauses
    if (receives_) count(is_first ? train : 1, shortest);  // of time_receiving()
    moved.wire_bytes = moved.payload_bytes;
    // Each train and each reply of puts is followed by a flag: two for each size (a single message
    // and a train), and one for the train with pauses.
    if (!receives_) moved.wire_bytes += (2 * sizes.size() + 1) * sizeof(train_number_);
    if (!team_.nodes().is_local(is_first ? pair_.second : pair_.first))
      moved.offnode_bytes = moved.wire_bytes;
    return moved;
  }
  [[nodiscard]] std::vector<metric> metrics(const summary&) override {
    const double receive =
        receives_ ? team_.broadcast_value(undisturbed(receiving_), pair_.second) : 0;
    std::vector<metric> figures;
    if (team_.rank() != 0) return figures;
    std::vector<gap_of_size> gaps;
    for (const std::size_t bytes : sizes)
      gaps.push_back({static_cast<double>(bytes),
                      (undisturbed(trains_[bytes]) - undisturbed(single_[bytes])) / (train - 1)});
    const double send =
        std::max(0.0, (undisturbed(delayed_) - undisturbed(single_[shortest])) / (train - 1) -
                          undisturbed(delays_));
    const auto fitted = fit_gaps(gaps, std::max(send, receive));
    // The work of the sender may overlap with the travel of the message. The difference can then be
    // negative. Noise can make the fitted time per byte negative. The bytes then count as free.
    const double bytes_seconds = (shortest - 1) * std::max(0.0, fitted.per_byte_seconds);
    const double travel =
        std::max(0.0, undisturbed(single_[shortest]) / 2 - send - receive - bytes_seconds);
    figures = {
        {"latency_us", 1e6 * travel, "us", false},
        {"send_overhead_us", 1e6 * send, "us", false},
        {"gap_us", 1e6 * fitted.per_message_seconds, "us", false},
        {"gap_per_byte_ns", 1e9 * fitted.per_byte_seconds, "ns/B", false},
        {"long_gap_per_byte_ns", 1e9 * long_gap_per_byte(gaps.back(), fitted), "ns/B", false},
        {"half_round_trip_us", 1e6 * undisturbed(single_[shortest]) / 2, "us", false}};
    // Each byte of a single message takes G + 2 O. Each byte of a train takes the larger of G and
    // O.
    const double alone = (undisturbed(single_[longest]) - undisturbed(single_[shortest])) / 2 /
                         static_cast<double>(longest - shortest);
    figures.push_back({"overhead_per_byte_ns",
                       1e9 * std::max(0.0, alone - fitted.per_byte_seconds) / 2, "ns/B", false});
    if (receives_) figures.push_back({"receive_overhead_us", 1e6 * receive, "us", false});
    return figures;
  }
  [[nodiscard]] json collect_facts() override {
    return {{"pair", {{"ranks", {pair_.first, pair_.second}}, {"apart_in", pair_.level}}}};
  }

 private:
  [[nodiscard]] bool takes_part() const {
    return team_.rank() == pair_.first || team_.rank() == pair_.second;
  }

  // G of the longest trains alone. It is larger than G of the line if the network lets bursts pass
  // faster than its limit.
  static double long_gap_per_byte(const gap_of_size& of_longest, const fitted_gap& fitted) {
    return std::max(0.0, of_longest.seconds - fitted.per_message_seconds) /
           static_cast<double>(longest - 1);
  }

  // The 10th percentile of the times, because disturbances only lengthen times.
  static double undisturbed(const std::vector<double>& seconds) {
    return seconds.empty() ? 0 : quantile(seconds, 0.1);
  }

  // PRTT: `count` messages and one reply. Rank 0 keeps the seconds, and the mean of the actual
  // pauses between its messages.
  void time_train(int count, double pause_seconds, std::size_t bytes, std::vector<double>& seconds,
                  std::vector<double>* pauses = nullptr) {
    ++train_number_;
    if (team_.rank() == pair_.first) {
      std::memcpy(message_.data(), &train_number_, sizeof(train_number_));
      const double start = team_.now();
      double paused = 0;
      for (int i = 0; i < count; ++i) {
        if (i > 0 && pause_seconds > 0) {
          const double from = team_.now();
          double now = from;
          while (now < from + pause_seconds) now = team_.now();
          paused += now - from;
        }
        link_->send(bytes, message_.data());
      }
      link_->finish();
      link_->receive(bytes, reply_.data());
      keep(seconds, team_.now() - start);
      if (pauses != nullptr) keep(*pauses, paused / (count - 1));
    } else {
      link_->await_train(bytes, reply_.data(), count);
      link_->send(bytes, reply_.data());
      link_->finish();
    }
    std::int64_t number = 0;
    std::memcpy(&number, reply_.data(), sizeof(number));
    is_right_ = is_right_ && number == train_number_;
  }

  // The cost of receiving messages that have arrived. After the first message of a train, the
  // receiver waits until all messages of the train have arrived.
  void time_receiving() {
    if (team_.rank() == pair_.first) {
      for (int i = 0; i < train; ++i) link_->send(shortest, message_.data());
      link_->receive(shortest, reply_.data());  // before the next train begins
      return;
    }
    link_->receive(shortest, reply_.data());
    const double until = team_.now() + settle_seconds;
    while (team_.now() < until) team_.progress();
    const double start = team_.now();
    for (int i = 1; i < train; ++i) link_->receive(shortest, reply_.data());
    keep(receiving_, (team_.now() - start) / (train - 1));
    link_->send(shortest, reply_.data());
  }

  static void keep(std::vector<double>& seconds, double value) {
    if (seconds.size() < max_kept) seconds.push_back(value);
  }

  static constexpr std::size_t max_kept = 20'000;  // later times of a kind are dropped
  static constexpr double settle_seconds = 20e-6;

  team& team_;
  chosen_pair pair_;
  std::vector<std::byte> message_, reply_;
  std::unique_ptr<link> link_;
  bool receives_ = false, is_right_ = true;
  std::int64_t train_number_ = 0;
  std::map<std::size_t, std::vector<double>> single_, trains_;  // seconds, indexed by bytes
  std::vector<double> delayed_, delays_, receiving_;
};

}  // namespace

std::unique_ptr<measurement> make_loggp(team& ranks, const std::string& over,
                                        const std::string& pair) {
  return std::make_unique<loggp_measurement>(ranks, over, pair);
}

}  // namespace longshore::bench
