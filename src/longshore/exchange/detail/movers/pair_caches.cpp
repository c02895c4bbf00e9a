// Two ranks send a cache line back and forth, and compare the shortest round trip with a limit. If
// their caches are far, they also exchange messages in three ways.
#include <longshore/exchange/detail/movers/pair_caches.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/streaming_store.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

namespace longshore::detail {
namespace {

constexpr int round_trips = 10;
// On AMD EPYC a round trip takes 100 to 130 ns between near caches, and 350 to 460 ns between far
// ones.
constexpr double far_round_trip_seconds = 220e-9;

// What the lower rank tells with a signal, and what the other rank answers.
enum : std::uint64_t { trip, are_near, are_far, are_given_far };
enum : std::uint64_t { spins, does_not_spin };

// Signals of two ranks by turns. Each is a number that grows, and a value of 16 bits. A rank that
// sends before it has received may overwrite its last value, so such values are all 0.
class pair_signals {
 public:
  pair_signals(team& ranks, int peer, const measuring_memory& memory)
      : ranks_(ranks),
        peer_(peer),
        from_peer_(memory.from_peer.line_probe),
        to_peer_(memory.to_peer.line_probe) {}
  void send(std::uint64_t value) { signal(ranks_, to_peer_, ++sent_ << 16 | value, peer_); }
  std::uint64_t receive() {
    ++received_;
    for (waiter wait(ranks_, "a neighbour to measure its caches", peer_);; wait.pause()) {
      before_polls(ranks_);
      if (const auto signal = from_peer_.load(std::memory_order_acquire); signal >> 16 >= received_)
        return signal & 0xffff;
    }
  }

 private:
  team& ranks_;
  int peer_;
  const std::atomic<std::uint64_t>& from_peer_;
  std::atomic<std::uint64_t>& to_peer_;
  std::uint64_t sent_ = 0, received_ = 0;
};

// The lower rank returns what it then tells the other rank.
std::uint64_t measured_distance(team& ranks, pair_signals& signals) {
  if (!ranks.waiting().spin) return are_near;
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < round_trips; ++i) {
    const double began = ranks.now();
    signals.send(trip);
    if (signals.receive() == does_not_spin) return are_near;
    if (i > 0) shortest = std::min(shortest, ranks.now() - began);
  }
  return shortest > far_round_trip_seconds ? are_far : are_near;
}

enum class way { read, packed, streamed };

// Both ranks send each other messages, as neighbours do, after they have written what they send.
class message_trial {
 public:
  message_trial(team& ranks, pair_signals& signals, std::byte* mine, const std::byte* theirs)
      : ranks_(ranks), signals_(signals), mine_(mine), theirs_(theirs), stored_(longest) {}

  // Returns the median of a few exchanges. A shortest time would be one in which the other rank
  // happened to be ahead.
  double seconds(way by, std::size_t bytes) {
    constexpr int untimed = 2;  // both slots are used once
    std::array<double, 9> times{};
    for (int i = -untimed; i < static_cast<int>(times.size()); ++i) {
      const double began = ranks_.now();
      exchange(by, bytes);
      if (i >= 0) times[static_cast<std::size_t>(i)] = ranks_.now() - began;
    }
    std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
    return times[times.size() / 2];
  }

 private:
  static constexpr std::size_t longest = pair_caches::lengths.back();

  // The memory of a rank has its message, and two slots. A slot is free when the next message has
  // come. Memory that was read is free when the reader says so.
  void exchange(way by, std::size_t bytes) {
    const std::size_t slot = by == way::read ? 0 : (1 + ++exchanges_ % 2) * longest;
    for (std::size_t i = 0; i < bytes; i += cache_line_bytes)
      mine_[i] = static_cast<std::byte>(exchanges_);
    if (by == way::packed) std::memcpy(mine_ + slot, mine_, bytes);
    if (by == way::streamed) {
      stream_run(mine_ + slot, mine_, bytes);
      fence_streaming_stores();
    }
    meet();
    std::memcpy(stored_.data(), theirs_ + slot, bytes);
    if (by == way::read) meet();
  }
  void meet() {
    signals_.send(trip);
    (void)signals_.receive();
  }

  team& ranks_;
  pair_signals& signals_;
  std::byte* mine_;
  const std::byte* theirs_;
  std::vector<std::byte> stored_;
  std::size_t exchanges_ = 0;
};

// Streaming stores of short runs gain less than those of a whole message, as here.
constexpr double clearly_faster = 0.85;
// Here packing finds the message in the nearest cache. In a program, packing takes longer. So
// packing must be much faster than reading here. The time of packing over that of reading: on Intel
// Xeon 0.55 to 0.95 here, and 0.9 to 1.35 in loops that write all cells; on AMD EPYC 0.2 to 0.75 in
// such loops.
constexpr double much_faster = 0.5;

// Whether messages are packed, and how, by the times of the three ways. If streaming stores are much
// faster than ordinary ones, these wait for the lines that the other core has read. The stores of a
// program to cells that were read wait, too. So packing by streaming stores pays sooner.
bool is_streamed(double packed, double streamed) { return streamed < clearly_faster * packed; }
bool is_packed(double read, double packed, double streamed) {
  const bool stores_wait = streamed < much_faster * packed;
  return std::min(packed, streamed) < (stores_wait ? clearly_faster : much_faster) * read;
}

pair_caches measured_messages(message_trial trial) {
  pair_caches found{.are_far = true};
  for (std::size_t i = 0; i < pair_caches::lengths.size(); ++i) {
    const auto seconds = [&](way by) { return trial.seconds(by, pair_caches::lengths[i]); };
    const double read = seconds(way::read), packed = seconds(way::packed);
    const double streamed = can_stream_lines ? seconds(way::streamed) : packed;
    const auto set = [i](std::uint8_t& bits, bool value) {
      bits = static_cast<std::uint8_t>(bits | (value ? 1U << i : 0U));
    };
    set(found.streamed, is_streamed(packed, streamed));
    set(found.packed, is_packed(read, packed, streamed));
  }
  return found;
}

// The value of a signal: 0 for nothing.
std::uint64_t signal_of(const std::optional<pair_caches>& known) {
  static_assert(pair_caches::lengths.size() <= 7);
  return known ? 1U << 15 | known->packed << 7U | (known->streamed & 0x7fU) : 0U;
}
std::optional<pair_caches> known_by(std::uint64_t signal) {
  if (signal == 0) return std::nullopt;
  return pair_caches{true, static_cast<std::uint8_t>(signal >> 7 & 0xff),
                     static_cast<std::uint8_t>(signal & 0x7f)};
}

}  // namespace

std::optional<bool> caches_by_environment() {
  const auto given = environment_text("LONGSHORE_CACHES");
  if (!given) return std::nullopt;
  if (*given != "near" && *given != "far")
    fail(errc::usage, "LONGSHORE_CACHES is '{}': it must be near or far, or not set", *given);
  return *given == "far";
}

pair_caches measure_caches(team& ranks, int peer, const measuring_memory& memory,
                           std::optional<bool> given, const std::optional<pair_caches>& known) {
  pair_signals signals(ranks, peer, memory);
  const bool is_lower = ranks.rank() < peer;
  std::uint64_t distance = trip;
  if (is_lower) {
    distance = !given ? measured_distance(ranks, signals) : *given ? are_given_far : are_near;
    signals.send(distance);
  } else {
    while ((distance = signals.receive()) == trip)
      signals.send(ranks.waiting().spin ? spins : does_not_spin);
  }
  if (distance == are_near) return {};
  if (distance == are_given_far) return pair_caches::assumed_far();
  // The lower rank decides which knowledge is taken, if any.
  std::optional<pair_caches> taken;
  if (is_lower) {
    const auto known_by_peer = known_by(signals.receive());
    taken = known ? known : known_by_peer;
    signals.send(signal_of(taken));
  } else {
    signals.send(signal_of(known));
    taken = known_by(signals.receive());
  }
  if (taken) return *taken;
  // A rank that cannot map the other's memory reads its own. Its times then say nothing.
  const auto theirs = memory.mappings.map(memory.theirs);
  const auto measured =
      measured_messages({ranks, signals, memory.mine.data(),
                         theirs.data != nullptr ? theirs.data : memory.mine.data()});
  // When both ranks have sent, neither reads the other's memory any more.
  signals.send(signal_of(measured));
  const auto measured_by_peer = known_by(signals.receive());
  return is_lower ? measured : *measured_by_peer;
}

}  // namespace longshore::detail
