// The description of a simulated machine, read from a machine file
// (docs/reference/machine-file.md).
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::simulated {

/// Seconds per byte, or per another unit, as a function of a size. A size has the seconds of its
/// class. If the sizes are points, seconds between two points are interpolated linearly.
struct rate_by_size {
  struct size_class {
    std::size_t largest;  ///< of the class, or the point; the last also holds for larger sizes
    double seconds;
  };
  std::vector<size_class> classes = {{no_limit, 0}};  ///< at least one
  bool are_points = false;
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  rate_by_size() = default;
  explicit rate_by_size(double seconds) : classes{{no_limit, seconds}} {}
  [[nodiscard]] double of(std::size_t size) const noexcept {
    auto found = classes.begin();
    while (found + 1 != classes.end() && size > found->largest) ++found;
    if (!are_points || found == classes.begin() || size >= found->largest) return found->seconds;
    const auto before = found - 1;
    const double share = static_cast<double>(size - before->largest) /
                         static_cast<double>(found->largest - before->largest);
    return before->seconds + share * (found->seconds - before->seconds);
  }
  /// The least seconds over all sizes.
  [[nodiscard]] double least() const noexcept {
    return std::min_element(classes.begin(), classes.end(),
                            [](const auto& a, const auto& b) { return a.seconds < b.seconds; })
        ->seconds;
  }
};

/// The memory traffic of a copy of `bytes` bytes: the bytes read plus the bytes written.
[[nodiscard]] inline std::size_t bytes_touched_by_copy(std::size_t bytes) noexcept {
  return 2 * bytes;
}

/// All times are in seconds, all rates in seconds per byte.
struct machine {
  std::string file, name, version;
  int nodes = 0, ranks_per_node = 0;
  int cores = 0;           ///< of a node, if its ranks share them; 0 if each rank has its own
  double core_switch = 0;  ///< from the end of a wait until the rank has its shared core again

  /// LogGOPS: T. Hoefler, T. Schneider, A. Lumsdaine, LogGOPSim, HPDC 2010.
  struct {
    double latency = 0;                              ///< L
    double send_overhead = 0, receive_overhead = 0;  ///< o of the sender and of the receiver
    double overhead_per_byte = 0;                    ///< O
    double gap = 0;                                  ///< g
    rate_by_size per_byte;                           ///< G, by size of the message
    /// REQUIRES: bytes > 0. Returns (bytes - 1) G, the time between the first and the last byte.
    [[nodiscard]] double wire_seconds(std::size_t bytes) const noexcept {
      return static_cast<double>(bytes - 1) * per_byte.of(bytes);
    }
  } network;

  struct {
    // Copies of one rank, by the bytes that the copies touch.
    rate_by_size own_copy;             ///< within its own memory
    rate_by_size near_copy, far_copy;  ///< with memory that a peer uses
    double node_copy = 0;              ///< of all ranks of a node together
    double latency = 0;                ///< until another rank of the node sees a store
    double atomic = 0;                 ///< an atomic update by the network or by a processor
    int domains = 1;                   ///< of a node; a copy between domains is far
  } memory;

  enum class topology_kind : std::uint8_t { crossbar, fat_tree, dragonfly };
  struct {
    topology_kind kind = topology_kind::crossbar;
    double hop = 0, link_per_byte = 0;
    int nodes_per_switch = 0;  ///< of a switch of a fat tree, of a router of a dragonfly
    int uplinks = 0;           ///< fat tree: links from a switch to the second level
    int routers_per_group = 0, global_links = 0;  ///< dragonfly: links between two groups
    bool valiant = false;
    std::uint64_t seed = 0;
  } topology;

  rate_by_size cache_lines;  ///< of short runs of cells, by the bytes that their copies touch
  /// For each kind of work (team::charge), seconds per unit, by the units that are charged at once.
  std::map<std::string, rate_by_size, std::less<>> costs;
  /// REQUIRES: costs has the kind.
  [[nodiscard]] const rate_by_size& cost_of(std::string_view work) const {
    const auto found = costs.find(work);
    assert(found != costs.end());
    return found->second;
  }

  [[nodiscard]] int node_of(int rank) const noexcept { return rank / ranks_per_node; }
  [[nodiscard]] int domain_of(int rank) const noexcept {
    return rank % ranks_per_node * memory.domains / ranks_per_node;
  }
};

/// Throws errc::usage with file, line and remedy if the file is invalid.
[[nodiscard]] machine read_machine(const std::string& file);

}  // namespace longshore::simulated
