// Pattern control: what the machine itself gives, measured in every study beside the patterns: a memory copy on all ranks at once, and
// 8 bytes there and back. When these shift between two sessions, the machine did, not the program.
#include "patterns/control/loggp.hpp"
#include "patterns/control/pingpong.hpp"
#include "patterns/control/put.hpp"
#include "patterns/control/shift.hpp"
#include "patterns/patterns.hpp"

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/machine/memory_block.hpp>
#include <longshore/stream/choose_stores.hpp>
#include <longshore/transport/launch/raw_calls_of.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace longshore::bench {
namespace {

// Source and destination of a rank together are four times the machine's caches, as for stream.
std::size_t default_copy_bytes() {
  const std::size_t caches = last_level_cache_bytes() * static_cast<std::size_t>(last_level_cache_count());
  return std::clamp(std::bit_ceil(2 * caches), std::size_t{1} << 24, std::size_t{1} << 28);
}

std::size_t bytes_of(const variant& what, std::size_t otherwise) {
  return what.contains("bytes") ? what.at("bytes").get<std::size_t>() : otherwise;
}

// A copy on all ranks at once; the figure counts what is read and what is written. Beyond the caches a loop of streaming stores
// copies, unless the C library's memcpy is clearly faster: a choice by a hair would differ from launch to launch, and pass for a
// change of the machine. Within the caches memcpy does.
class copy_measurement final : public measurement {
 public:
  copy_measurement(team& ranks, std::size_t bytes)
      : team_(ranks), bytes_(bytes), from_(checked(ranks, bytes), "huge"), to_(bytes, "huge") {
    random_stream random(bytes, static_cast<std::uint64_t>(ranks.rank()));
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
      const std::uint64_t value = random();
      std::memcpy(from_.data() + i, &value, sizeof(value));
    }
    std::memset(to_.data(), 0, bytes);
    const int sharing = ranks.nodes().ranks_of_machine();
    const auto possible = possible_stores(ranks, 2 * bytes * static_cast<std::size_t>(sharing), reached_cache_bytes(sharing), 1);
    if (possible[1])  // on any rank: all measure, or none
      streaming_ = !(best_seconds([&] { copy_plainly(); }) * clearly < best_seconds([&] { copy_streaming(); }));
  }

  // What was copied before must not pass for the next copy.
  void reset() override {
    for (const std::size_t at : {std::size_t{0}, bytes_ / 2, bytes_ - 1}) from_.data()[at] ^= std::byte{0xff};
  }
  void run() override {
    if (streaming_)
      copy_streaming();
    else
      copy_plainly();
  }
  [[nodiscard]] bool verify() override { return std::memcmp(from_.data(), to_.data(), bytes_) == 0; }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    const double node_gigabytes = 2e-9 * static_cast<double>(bytes_) * team_.size() / team_.nodes().node_count();
    const double plain = best_seconds([&] { copy_plainly(); });
    return {per_node("bandwidth", node_gigabytes / seconds.median, "GB/s"),
            per_node("best_bandwidth", node_gigabytes / seconds.best, "GB/s"),
            per_node("memcpy_best_bandwidth", node_gigabytes / plain, "GB/s")};
  }

 private:
  static constexpr double clearly = 1.15;

  static std::size_t checked(team& ranks, std::size_t bytes) {
    const auto sharing = static_cast<std::size_t>(ranks.nodes().ranks_of_machine());
    const auto available = static_cast<std::size_t>(ranks.allreduce_value(
        static_cast<std::int64_t>(std::min(available_memory_bytes(), std::size_t{1} << 62)), reduction::min));
    if (bytes > available / (2 * sharing))
      fail(errc::out_of_memory, "two buffers of {} bytes on each of {} ranks do not fit into the {} bytes available", bytes,
           sharing, available);
    return bytes;
  }

  void copy_plainly() { std::memcpy(to_.data(), from_.data(), bytes_); }
  void copy_streaming() {
    const std::size_t items = bytes_ / sizeof(double), rest = bytes_ % sizeof(double);
    const auto* const from = reinterpret_cast<const double*>(from_.data());
    stream_(reinterpret_cast<double*>(to_.data()), from, from, 1, items);
    if (rest > 0) std::memcpy(to_.data() + bytes_ - rest, from_.data() + bytes_ - rest, rest);
  }

  // Collective: the best of some tries, each as long as the slowest rank took.
  template <class Copy>
  double best_seconds(const Copy& copy) {
    constexpr int tries = 9;
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tries; ++i) {
      team_.barrier();
      const double start = team_.now();
      copy();
      best = std::min(best, team_.allreduce_value(team_.now() - start, reduction::max));
    }
    return best;
  }

  team& team_;
  std::size_t bytes_;
  memory_block from_, to_;
  stream_loop<double> stream_ = find_stream_loop<double>(stream_kernel::copy, store_kind::streaming);
  bool streaming_ = false;
};

// A ping-pong on channels.
class channel_way {
 public:
  static constexpr std::size_t head_bytes = 0;

  channel_way(team& ranks, int peer, std::size_t bytes, bool takes_part) : team_(ranks), peer_(peer) {
    std::vector<channel_end> ends;
    if (takes_part) ends.push_back({peer, bytes});
    channels_ = ranks.open_channels(ends, ends, slots);
  }
  [[nodiscard]] std::byte* begin() {
    std::byte* slot = nullptr;
    for (waiter wait(team_, "a free slot of the ping-pong", peer_); (slot = channels_->sender(0).reserve()) == nullptr;
         wait.pause()) {
    }
    return slot;
  }
  void send(std::size_t bytes) { channels_->sender(0).commit(bytes); }
  [[nodiscard]] std::span<const std::byte> receive() {
    std::optional<std::span<const std::byte>> message;
    for (waiter wait(team_, "the ping-pong", peer_); !(message = channels_->receiver(0).front()); wait.pause()) {
    }
    return *message;
  }
  void done() { channels_->receiver(0).release(); }

 private:
  static constexpr int slots = 2;
  team& team_;
  int peer_;
  std::unique_ptr<channel_set> channels_;
};

// Takes out what does not concern a kernel.
void settle_kernel(variant& what) {
  const std::string kernel = what.at("kernel");
  const bool has_bytes = kernel == "copy" || kernel == "pingpong" || kernel == "shift" || kernel == "put";
  if (!has_bytes) what.erase("bytes");
  // A ping-pong is over channels; that is said where it is asked for beside raw calls.
  if (kernel != "shift" && kernel != "loggp" && kernel != "put" &&
      (kernel != "pingpong" || (what.at("over") != "raw" && what.at("over") != "channel")))
    what.erase("over");
  if ((kernel != "shift" && kernel != "loggp" && kernel != "fetch-add" && kernel != "put") ||
      (kernel == "shift" && what.at("over") == "copy"))
    what.erase("pair");
  if ((kernel == "shift" || kernel == "put") && !what.contains("bytes")) what["bytes"] = pingpong_bytes;
}

std::optional<std::string> why_no_kernel(const variant& what, const launch_facts& facts) {
  const std::string kernel = what.at("kernel");
  const bool alone = kernel == "copy" || kernel == "barrier" || (kernel == "shift" && what.at("over") == "copy");
  if (!alone && facts.ranks < 2) return fmt::format("{} needs at least 2 ranks", kernel);
  const bool raw = what.contains("over") && what.at("over") == "raw";
  if (raw && kernel != "put" && kernel != "pingpong")
    return fmt::format("the calls of the library underneath are measured in put and pingpong, not in {}", kernel);
  if (raw && !has_raw_calls(facts.transport))
    return fmt::format("transport {} has no calls of its own to measure: raw is for shmem and ucx", facts.transport);
  if (kernel == "put" && !raw && what.at("over") != "put")
    return fmt::format("put is measured over put and raw, not over {}", what.at("over").get<std::string>());
  if (kernel == "loggp" && what.at("over") != "channel" && what.at("over") != "put")
    return fmt::format("loggp is measured over channel and put, not over {}", what.at("over").get<std::string>());
  if (what.contains("pair") && what.at("pair") == "self" &&
      (kernel != "shift" || (what.at("over") != "alltoallv" && what.at("over") != "rma")))
    return "a message to oneself is measured in a shift over alltoallv or rma, which move own blocks too";
  if (what.contains("pair") && kernel != "loggp" && what.at("pair") == "far")
    return kernel == "put" ? "put goes to a rank of the node or of the next: take near or remote"
                           : fmt::format("in {} every rank sends to the next one: take near or remote", kernel);
  return std::nullopt;
}

std::unique_ptr<measurement> make_kernel(team& ranks, const variant& what, const launch_facts&) {
  const std::string kernel = what.at("kernel");
  const auto level = [&](const char* name) { return what.contains(name) ? what.at(name).get<std::string>() : std::string(); };
  if (kernel == "copy")
    return std::make_unique<copy_measurement>(ranks,
                                              bytes_of(what, ranks.broadcast_value(default_copy_bytes())));  // hosts differ
  if (kernel == "put") return make_put(ranks, level("over"), level("pair"), bytes_of(what, pingpong_bytes));
  if (kernel == "pingpong" && level("over") == "raw") return make_raw_pingpong(ranks, bytes_of(what, pingpong_bytes));
  if (kernel == "pingpong") return std::make_unique<pingpong<channel_way>>(ranks, bytes_of(what, pingpong_bytes));
  if (kernel == "loggp") return make_loggp(ranks, level("over"), level("pair"));
  if (kernel == "shift") return make_shift(ranks, level("over"), level("pair"), bytes_of(what, pingpong_bytes));
  if (kernel == "barrier") return make_barrier(ranks);
  return make_fetch_add(ranks, level("pair"));
}

}  // namespace

pattern control_pattern() {
  return {
      .name = "control",
      .help = "what the machine gives: a memory copy on all ranks, messages there and back, the parameters of a model of them",
      .factors = {{.name = "kernel",
                   .allowed = {"copy", "pingpong", "put", "loggp", "shift", "barrier", "fetch-add"},
                   .defaults = {"copy", "pingpong"},
                   .help = "copy: on all ranks at once; pingpong: between rank 0 and the last; put: from rank 0 into another's "
                           "memory; loggp: latency, overheads and gaps "
                           "of a pair; shift: every rank sends to the next; barrier; fetch-add: to the next, all at once"},
                  {.name = "over",
                   .allowed = {"put", "channel", "alltoallv", "rma", "copy", "raw"},
                   .defaults = {"put"},
                   .help = "what carries the messages of loggp (put, channel) and shift (rma: one-sided calls of MPI; copy: into "
                           "the own memory), and of put and pingpong where it is raw: calls of the library underneath"},
                  {.name = "pair",
                   .allowed = {"near", "far", "remote", "self"},
                   .defaults = {"near"},
                   .help =
                       "of loggp: rank 0 and the rank of its node that shares most of the hardware with it, or least, or one of "
                       "another node. near and remote of shift and fetch-add: the next rank of the node, or on the next node; "
                       "self: the own block"},
                  {.name = "bytes",
                   .type = factor::kind::integer,
                   .defaults = {},
                   .help = "copied per rank, or sent; not given: twice the caches, or 8",
                   .low = static_cast<long>(pingpong_bytes),
                   .high = 1L << 48}},
      .examples = {"longshore-bench control --ranks 2", "mpirun -n 2 longshore-bench control --kernel pingpong --bytes 8,64,1024",
                   "longshore-bench control --ranks 4 --ranks-per-node 2 --kernel loggp --over put,channel --pair near,remote",
                   "longshore-bench control --ranks 2 --kernel shift,barrier --over put,alltoallv --bytes 8,4096,1048576"},
      .why_not = why_no_kernel,
      .make = make_kernel,
      .settle = settle_kernel,
      .symmetric_bytes = [](const variant& what, int ranks) -> std::size_t {
        constexpr std::size_t buffers = 16;
        if (!what.contains("bytes") || what.at("kernel") == "copy") return 0;
        return buffers * what.at("bytes").get<std::size_t>() *
               (what.at("kernel") == "shift" ? static_cast<std::size_t>(ranks) : 1);
      }};
}

}  // namespace longshore::bench
