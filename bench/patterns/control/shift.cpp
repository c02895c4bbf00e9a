// Kernel shift, with one class for each kind of transfer, and the kernels barrier and fetch-add. The
// fastest shift between nodes is also the speed of the network.
// The base class of shifts puts the caches into the state that they have in a program.
#include "patterns/control/kernels.hpp"
#include "patterns/control/memory_speeds.hpp"

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/options.hpp>
#include <longshore/transport/stream_ends.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace longshore::bench {
namespace {

// Why the ranks cannot send so that each receives once: to another rank of the same node (`pair`
// near), or to a rank of another node (`pair` remote). Nothing if they can.
std::optional<std::string> why_no_peers(const std::string& pair, const node_map& nodes) {
  if (pair == "self") return std::nullopt;
  if (pair == "remote") {
    if (nodes.node_count() < 2) return all_on_one_node;
  } else if (nodes.largest_node() < 2) {
    return "each rank is alone on its node: no other is near";
  }
  // A one-to-one assignment needs nodes of equal size.
  const int nodes_of_equal_size = nodes.node_count() * nodes.largest_node();
  const int ranks = nodes.rank_count();
  if (nodes_of_equal_size != ranks) return "the nodes have different numbers of ranks";
  return std::nullopt;
}

// The rank to which `rank` sends: the next rank of its node, or the rank with the same place on the
// next node. Targets of different ranks differ. REQUIRES: why_no_peers returns nothing.
int shift_target(const std::string& pair, const node_map& nodes, int rank) {
  if (pair == "self") return rank;
  const int index = nodes.local_index(rank), node = nodes.node_of(rank);
  const bool is_remote = pair == "remote";
  const int target_node = is_remote ? (node + 1) % nodes.node_count() : node;
  const int target_index = is_remote ? index : (index + 1) % nodes.largest_node();
  for (int target = 0; target < nodes.rank_count(); ++target)
    if (nodes.node_of(target) == target_node && nodes.local_index(target) == target_index)
      return target;
  return rank;
}

// Every rank sends one message and receives one message. Before each message, outside the measured
// time, caches get the state that they have before an exchange of a program: the receiver has read
// and overwritten the incoming buffer, then used the other memory of a sort, and the sender has
// just stored the outgoing message. A message that is sent repeatedly without changes stays in
// caches and costs a fraction. A message into cache lines that the receiver has only read costs
// twice as much as a message into lines that the receiver has written.
class shift_measurement : public measurement {
 public:
  shift_measurement(team& ranks, const std::string& pair, std::size_t bytes)
      : team_(ranks),
        words_((bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t)),
        bytes_(bytes),
        outgoing_(buffer_bytes(), true) {
    if (const auto why = why_no_peers(pair, ranks.nodes())) fail(errc::unsupported, "{}", *why);
    target_ = shift_target(pair, ranks.nodes(), ranks.rank());
    const auto targets = ranks.allgather_value(target_);
    source_ =
        static_cast<int>(std::find(targets.begin(), targets.end(), ranks.rank()) - targets.begin());
    for (int i = 0; i < clock_readings; ++i) {
      const double before = team_.now();
      clock_seconds_ = std::min(clock_seconds_, team_.now() - before);
    }
  }

  // The shortest time of a message, if no other memory was used before.
  [[nodiscard]] double shortest_message_seconds(int tries) {
    return shortest_seconds(
        team_, tries, [&] { send(), fetch_incoming(); }, [&] { use_memory(); });
  }

  void reset() override { send_seconds_ = barrier_seconds_ = 0, count_ = 0; }
  void run() override {
    if (other_memory_.data() == nullptr) other_memory_ = pages(other_bytes(), true);
    use_memory();
    begin();
    team_.barrier();
    const double start = team_.now();
    send();
    const double stop = team_.now();
    team_.barrier();  // no rank uses its memory before all messages have arrived
    const double end = team_.now();
    send_seconds_ += std::max(0.0, stop - start - clock_seconds_);
    barrier_seconds_ += end - start - 2 * clock_seconds_;
    ++count_;
  }
  [[nodiscard]] std::vector<std::pair<std::string, double>> phases() const override {
    const double factor = count_ > 0 ? 1 / static_cast<double>(count_) : 0;
    return {{"shift", factor * send_seconds_}, {"until_met", factor * barrier_seconds_}};
  }
  [[nodiscard]] bool verify() override {
    const auto* received = reinterpret_cast<const std::uint64_t*>(incoming());
    std::vector<std::uint64_t> expected(words_);
    for (std::size_t i = 0; i < words_; ++i) expected[i] = word(source_, i);
    return std::memcmp(received, expected.data(), bytes_) == 0;
  }
  [[nodiscard]] traffic moved() const override {
    if (target_ == team_.rank()) return {.payload_bytes = bytes_};
    const bool leaves = !team_.nodes().is_local(target_);
    return {.messages = 1,
            .payload_bytes = bytes_,
            .wire_bytes = bytes_,
            .offnode_bytes = leaves ? bytes_ : 0};
  }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    const double shift = seconds.phases.at(0).second;
    return {{"shift_us", 1e6 * shift, "us", false},
            {"until_met_us", 1e6 * seconds.phases.at(1).second, "us", false},
            per_rank("rank_bandwidth", 1e-9 * static_cast<double>(bytes_) / shift, "GB/s")};
  }

 protected:
  [[nodiscard]] virtual std::byte* incoming() = 0;
  virtual void begin() {}  // not timed
  virtual void send() = 0;
  virtual void fetch_incoming() {}  // the part of a message that send() leaves to its receiver
  [[nodiscard]] std::size_t buffer_bytes() const noexcept { return words_ * sizeof(std::uint64_t); }
  [[nodiscard]] const std::byte* outgoing() const noexcept { return outgoing_.data(); }

  team& team_;
  std::size_t words_, bytes_;
  int target_ = 0, source_ = 0;

 private:
  static constexpr int clock_readings = 200;
  // More than any cache of a core.
  static constexpr std::size_t max_other_bytes = std::size_t{128} << 20;

  // Every message differs in every word, so that no part of an old message is right. The mixed
  // numbers are distinct for messages of up to 2^32 words (32 GiB) and for 2^16 rounds.
  [[nodiscard]] std::uint64_t word(int rank, std::size_t i) const noexcept {
    return mix_bits((static_cast<std::uint64_t>(rank) << 48) + (round_ << 32) + i);
  }

  // The other memory of a sort. An exchange of blocks of this size among all ranks uses three
  // buffers of all blocks: input, outgoing and incoming.
  [[nodiscard]] std::size_t other_bytes() const noexcept {
    const std::size_t blocks = 3 * static_cast<std::size_t>(team_.size()) - 2;
    return std::clamp(blocks * buffer_bytes(), 2 * buffer_bytes(),
                      std::max(2 * buffer_bytes(), max_other_bytes));
  }

  void use_memory() {
    ++round_;
    auto* const in = reinterpret_cast<std::uint64_t*>(incoming());
    for (std::size_t i = 0; i < words_; ++i) in[i] += round_;
    auto* const other = reinterpret_cast<std::uint64_t*>(other_memory_.data());
    const std::size_t other_words = other == nullptr ? 0 : other_bytes() / sizeof(*other);
    for (std::size_t i = 0; i < other_words; ++i) ++other[i];
    auto* const out = reinterpret_cast<std::uint64_t*>(outgoing_.data());
    const int rank = team_.rank();
    // A sort stores its outgoing keys in the same way: past the caches if there are many buckets.
    if (static_cast<std::size_t>(team_.size()) <= max_plain_buckets) {
      for (std::size_t i = 0; i < words_; ++i) out[i] = word(rank, i);
    } else {
      for (std::size_t i = 0; i < words_; ++i) stream_store(out + i, word(rank, i));
      fence_streaming_stores();
    }
  }

  pages outgoing_, other_memory_;
  std::uint64_t round_ = 0;
  double clock_seconds_ = 1, send_seconds_ = 0, barrier_seconds_ = 0;
  long count_ = 0;
};

// A put into the segment of the target, until the put is complete.
class put_shift final : public shift_measurement {
 public:
  put_shift(team& ranks, const std::string& pair, std::size_t bytes)
      : shift_measurement(ranks, pair, bytes), memory_(ranks.allocate(buffer_bytes())) {}

 private:
  [[nodiscard]] std::byte* incoming() override { return memory_->local(); }
  void send() override {
    memory_->put_start(target_, 0, outgoing(), bytes_);
    memory_->quiet();
  }
  // Within a host, the bytes of a put stay in caches of the sender until the receiver reads them.
  void fetch_incoming() override {
    team_.barrier();
    if (!team_.nodes().is_on_host(source_)) return;
    auto sum = std::byte{};
    for (std::size_t i = 0; i < bytes_; i += cache_line_bytes) sum ^= memory_->local()[i];
    read_ = sum;
  }
  volatile std::byte read_ = {};  // without a use, the compiler would drop the loads
  std::unique_ptr<segment> memory_;
};

// A copy within the memory of this rank, for comparison with messages.
class copy_shift final : public shift_measurement {
 public:
  copy_shift(team& ranks, std::size_t bytes)
      : shift_measurement(ranks, "self", bytes), memory_(ranks.allocate(buffer_bytes())) {}

 private:
  [[nodiscard]] std::byte* incoming() override { return memory_->local(); }
  void send() override { copy_message(team_, team_.rank(), memory_->local(), outgoing(), bytes_); }
  std::unique_ptr<segment> memory_;
};

// A message through a channel, in pieces of the size that exchanges use. send() returns when this
// rank has sent its message and received a message.
class channel_shift final : public shift_measurement {
 public:
  channel_shift(team& ranks, const std::string& pair, std::size_t bytes)
      : shift_measurement(ranks, pair, bytes), received_(buffer_bytes(), true) {
    const auto end = [&](int peer) {
      return stream_ends(ranks.nodes(), {&peer, 1}, std::min(bytes, slot_bytes), slots,
                         slots_between_hosts(slot_bytes, 1, slots));
    };
    channels_ = ranks.open_channels(end(target_), end(source_), slots);
  }
  [[nodiscard]] traffic moved() const override {
    traffic moved = shift_measurement::moved();
    moved.messages = (bytes_ + slot_bytes - 1) / slot_bytes;
    return moved;
  }

 private:
  static constexpr std::size_t slot_bytes = std::size_t{32} << 10;
  static constexpr int slots = 2;

  [[nodiscard]] std::byte* incoming() override { return received_.data(); }
  void send() override {
    channel_sender& to = channels_->sender(0);
    channel_receiver& from = channels_->receiver(0);
    for (std::size_t sent = 0, arrived = 0; sent < bytes_ || arrived < bytes_;) {
      for (waiter wait(team_, "a message of a shift", source_);; wait.pause()) {
        bool moved = false;
        while (sent < bytes_) {
          std::byte* const slot = to.reserve();
          if (slot == nullptr) break;
          const std::size_t part = std::min(slot_bytes, bytes_ - sent);
          copy_message(team_, to.peer(), slot, outgoing() + sent, part);
          to.commit(part);
          sent += part;
          moved = true;
        }
        while (arrived < bytes_) {
          const auto message = from.front();
          if (!message) break;
          copy_message(team_, from.peer(), received_.data() + arrived, message->data(),
                       message->size());
          arrived += message->size();
          from.release();
          moved = true;
        }
        if (moved) break;
      }
    }
  }
  pages received_;
  std::unique_ptr<channel_set> channels_;
};

// A collective call, with an empty block for all ranks except the target. So the time includes the
// cost of the whole call.
class alltoallv_shift final : public shift_measurement {
 public:
  alltoallv_shift(team& ranks, const std::string& pair, std::size_t bytes)
      : shift_measurement(ranks, pair, bytes), received_(buffer_bytes(), true) {
    to_.assign(static_cast<std::size_t>(ranks.size()), 0);
    from_ = to_;
    // Counts are in words, because counts of bytes would exceed the range of the call.
    to_[static_cast<std::size_t>(target_)] = from_[static_cast<std::size_t>(source_)] = words_;
  }

 private:
  [[nodiscard]] std::byte* incoming() override { return received_.data(); }
  void send() override {
    team_.alltoallv(outgoing(), to_, received_.data(), from_, sizeof(std::uint64_t));
  }
  std::vector<std::size_t> to_, from_;
  pages received_;
};

// MPI's one-sided calls as in a bucket exchange, with the reservation of memory and the barrier.
class rma_shift final : public shift_measurement {
 public:
  rma_shift(team& ranks, const std::string& pair, std::size_t bytes)
      : shift_measurement(ranks, pair, bytes),
        counts_(ranks.size()),
        exchange_(make_block_exchange(ranks, {.strategy = exchange_strategy::rma},
                                      sizeof(std::uint64_t))) {
    counts_.outgoing[static_cast<std::size_t>(target_)] =
        counts_.incoming[static_cast<std::size_t>(source_)] = words_;
    counts_.received = counts_.max_received = words_;
    exchange_->prepare(counts_);
  }

 private:
  [[nodiscard]] std::byte* incoming() override { return exchange_->incoming(); }
  void begin() override { exchange_->prepare(counts_); }
  void send() override { exchange_->run(outgoing(), nullptr); }
  block_counts counts_;
  std::unique_ptr<block_exchange> exchange_;
};

class barrier_measurement final : public measurement {
 public:
  explicit barrier_measurement(team& ranks)
      : team_(ranks), token_(ranks.allocate(sizeof(round_))) {}
  void run() override { team_.barrier(); }
  // After the barrier, the number that the previous rank put must have arrived.
  [[nodiscard]] bool verify() override {
    ++round_;
    token_->put((team_.rank() + 1) % team_.size(), 0, &round_, sizeof(round_));
    token_->quiet();
    team_.barrier();
    std::int64_t received = 0;
    std::memcpy(&received, token_->local(), sizeof(received));
    team_.barrier();
    return received == round_;
  }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return {{"barrier_us", 1e6 * seconds.median, "us", false}};
  }

 private:
  team& team_;
  std::unique_ptr<segment> token_;
  std::int64_t round_ = 0;
};

class fetch_add_measurement final : public measurement {
 public:
  fetch_add_measurement(team& ranks, const std::string& pair) : team_(ranks) {
    if (const auto why = why_no_peers(pair, ranks.nodes())) fail(errc::unsupported, "{}", *why);
    target_ = shift_target(pair, ranks.nodes(), ranks.rank());
    counter_ = ranks.allocate(sizeof(std::int64_t));
  }
  void run() override {
    if (counter_->fetch_add(target_, 0, 1) != count_) is_right_ = false;
    ++count_;
  }
  [[nodiscard]] bool verify() override {
    team_.barrier();
    const std::int64_t added_here = counter_->fetch_add(team_.rank(), 0, 0);
    const bool all_equal = team_.allreduce_value(count_, reduction::min) ==
                           team_.allreduce_value(count_, reduction::max);
    return is_right_ && count_ > 0 && all_equal && added_here == count_;
  }
  [[nodiscard]] traffic moved() const override {
    const bool leaves = !team_.nodes().is_local(target_);
    return {.messages = 1,
            .payload_bytes = sizeof(std::int64_t),
            .wire_bytes = sizeof(std::int64_t),
            .offnode_bytes = leaves ? sizeof(std::int64_t) : 0};
  }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return {{"fetch_add_us", 1e6 * seconds.median, "us", false}};
  }

 private:
  team& team_;
  int target_ = 0;
  std::unique_ptr<segment> counter_;
  std::int64_t count_ = 0;
  bool is_right_ = true;
};

std::unique_ptr<shift_measurement> find_shift(team& ranks, const std::string& over,
                                              const std::string& pair, std::size_t bytes) {
  if (over == "copy") return std::make_unique<copy_shift>(ranks, bytes);
  if (over == "put") return std::make_unique<put_shift>(ranks, pair, bytes);
  if (over == "rma") {
    if (const auto why =
            why_not(exchange_strategy::rma, exchange_order::round_robin, exchange_layout_of(ranks)))
      fail(errc::unsupported, "{}", *why);
    return std::make_unique<rma_shift>(ranks, pair, bytes);
  }
  if (over == "channel") return std::make_unique<channel_shift>(ranks, pair, bytes);
  return std::make_unique<alltoallv_shift>(ranks, pair, bytes);  // the only level left
}

}  // namespace

std::unique_ptr<measurement> make_shift(team& ranks, const std::string& over,
                                        const std::string& pair, std::size_t bytes) {
  return find_shift(ranks, over, pair, bytes);
}
std::optional<double> remote_shift_seconds(team& ranks, std::size_t bytes) {
  constexpr int tries = 7;
  if (why_no_peers("remote", ranks.nodes())) return std::nullopt;
  double best = std::numeric_limits<double>::infinity();
  const auto attempt = [&](const char* over) {
    const auto shift = find_shift(ranks, over, "remote", bytes);
    best = std::min(best, shift->shortest_message_seconds(tries));
  };
  attempt("channel");
  attempt("alltoallv");
  // Between hosts, windows of MPI need settings that not all machines have
  // (docs/reference/transports.md), and a launch that tries without them fails.
  if (ranks.transport_name() != "mpi" || ranks.nodes().most_ranks_off_host() == 0) attempt("put");
  return best;
}
std::unique_ptr<measurement> make_barrier(team& ranks) {
  return std::make_unique<barrier_measurement>(ranks);
}
std::unique_ptr<measurement> make_fetch_add(team& ranks, const std::string& pair) {
  return std::make_unique<fetch_add_measurement>(ranks, pair);
}

}  // namespace longshore::bench
