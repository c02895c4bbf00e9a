// A set is used part by part, in several passes. Each part counts with its shortest time, so that a
// disturbance lengthens one part of one pass. A set that is smaller than a part is used several times
// in a try, so that a try lasts longer than the differences between the ranks' ends of a barrier.
#include "patterns/control/memory_speeds.hpp"

#include "patterns/control/kernels.hpp"

#include <longshore/core/bytes.hpp>
#include <longshore/stream/loop.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

namespace longshore::bench {
namespace {

constexpr std::size_t smallest_set = std::size_t{1} << 15, largest_set = std::size_t{1} << 26;
constexpr std::size_t part_bytes = std::size_t{1} << 21;
constexpr std::size_t neighbour_bytes = std::size_t{1} << 20;
constexpr int passes = 7;

class speed_probe {
 public:
  speed_probe(team& ranks, const std::byte* from, std::byte* to)
      : team_(ranks), from_(from), to_(to) {
    const auto of_node = ranks.nodes().my_ranks();
    if (ranks.nodes().node_count() == ranks.size()) return;  // no rank has a neighbour
    shared_ = ranks.allocate(neighbour_bytes);
    const auto mine = static_cast<std::size_t>(ranks.nodes().local_index(ranks.rank()));
    neighbours_ = shared_->direct(of_node[(mine + 1) % of_node.size()]);
  }

  /// Each rank reads and writes `set` bytes, or reads lines of `set` bytes.
  [[nodiscard]] json of_set(std::size_t set) {
    const int bits = std::countr_zero(set / cache_line_bytes);
    const auto scattered = [&](std::size_t i) { return scattered_line(i, bits); };
    const auto in_order = [&](std::size_t begin, std::size_t bytes) {
      read_lines(begin, bytes, std::identity());
    };
    const auto at_random = [&](std::size_t begin, std::size_t bytes) {
      read_lines(begin, bytes, scattered);
    };
    json speeds{{"bytes", set},
                {"copy", rate(set, copy_seconds(set))},
                {"lines", rate(set, seconds(set, in_order))},
                {"random_lines", rate(set, seconds(set, at_random))}};
    if (neighbours_ != nullptr && set / 2 <= neighbour_bytes)
      speeds["neighbour_copy"] = rate(set, neighbour_seconds(set / 2));
    return speeds;
  }

 private:
  // GB/s of a node, if each rank moves `bytes` bytes.
  [[nodiscard]] double rate(std::size_t bytes, double seconds) const {
    const double ranks_of_node = static_cast<double>(team_.size()) / team_.nodes().node_count();
    return 1e-9 * static_cast<double>(bytes) * ranks_of_node / seconds;
  }

  // The time in which use(begin, bytes) goes through the set once.
  template <class Use>
  double seconds(std::size_t set, const Use& use) {
    const std::size_t runs = std::max<std::size_t>(1, part_bytes / set);
    const std::size_t bytes = std::min(set, part_bytes);
    std::vector<double> best(set / bytes, std::numeric_limits<double>::infinity());
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t part = 0; part < best.size(); ++part)
        best[part] = std::min(best[part], shortest_seconds(team_, 1, [&] {
                                for (std::size_t i = 0; i < runs; ++i) use(part * bytes, bytes);
                              }));
    return std::accumulate(best.begin(), best.end(), 0.0) / static_cast<double>(runs);
  }
  // One half of the set is copied to the other one.
  double copy_seconds(std::size_t set) {
    double best = seconds(set, [&](std::size_t begin, std::size_t bytes) {
      std::memcpy(to_ + begin / 2, from_ + begin / 2, bytes / 2);
    });
    for (const auto copy : loops_)
      best = std::min(best, seconds(set, [&](std::size_t begin, std::size_t bytes) {
                        const auto* const from = reinterpret_cast<const double*>(from_ + begin / 2);
                        auto* const to = reinterpret_cast<double*>(to_ + begin / 2);
                        copy(to, from, from, 1, bytes / 2 / sizeof(double));
                      }));
    return best;
  }
  double neighbour_seconds(std::size_t bytes) {
    return shortest_seconds(
        team_, passes, [&] { std::memcpy(to_, neighbours_, bytes); },
        [&] { std::memset(shared_->local(), ++written_, bytes); });
  }

  // Reads a word of each line. Without a use of the sum, the compiler would drop the loads.
  template <class Order>
  void read_lines(std::size_t begin, std::size_t bytes, const Order& line_at) {
    std::uint64_t sum = 0, word = 0;
    for (std::size_t i = begin / cache_line_bytes; i < (begin + bytes) / cache_line_bytes; ++i) {
      std::memcpy(&word, from_ + line_at(i) * cache_line_bytes, sizeof(word));
      sum += word;
    }
    sum_ = sum;
  }

  team& team_;
  const std::byte* from_;
  std::byte* to_;
  std::unique_ptr<segment> shared_;
  const std::byte* neighbours_ = nullptr;  // the memory of the next rank of the node
  std::array<stream_loop<double>, 2> loops_ = {
      find_stream_loop<double>(stream_kernel::copy, store_kind::ordinary),
      find_stream_loop<double>(stream_kernel::copy, store_kind::streaming)};
  int written_ = 0;
  volatile std::uint64_t sum_ = 0;
};

// Adds the speed of the network: GB/s that a node sends while it receives as much, in messages of
// half of a set. Short messages show the latency, too, which a stream of messages hides. So no speed
// is below that of longer messages.
void add_network(team& ranks, json& speeds) {
  constexpr double long_seconds = 0.05;  // longer messages have the same speed, and take long
  const double ranks_of_node = static_cast<double>(ranks.size()) / ranks.nodes().node_count();
  std::vector<double> found;
  for (const json& of_set : speeds) {
    const std::size_t message = of_set.at("bytes").get<std::size_t>() / 2;
    if (message > longest_network_message) break;
    const auto seconds = remote_shift_seconds(ranks, message);
    if (!seconds) return;
    found.push_back(1e-9 * static_cast<double>(message) * ranks_of_node / *seconds);
    if (*seconds > long_seconds) break;
  }
  double speed = 0;
  for (std::size_t i = found.size(); i-- > 0;)
    speeds[i]["network"] = speed = std::max(speed, found[i]);
}

}  // namespace

json measure_memory_speeds(team& ranks, const std::byte* from, std::byte* to, std::size_t bytes) {
  json speeds = json::array();
  speed_probe probe(ranks, from, to);
  for (std::size_t set = smallest_set; set <= std::min(bytes, largest_set); set *= 2)
    speeds.push_back(probe.of_set(set));
  add_network(ranks, speeds);
  return speeds;
}

}  // namespace longshore::bench
