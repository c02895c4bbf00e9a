// The links between the nodes of a simulated machine. Each link is a server: a message occupies the
// link for the time of its bytes, and the next message waits. The message moves on as soon as its
// head has passed.
#pragma once

#include <longshore/transport/simulated/detail/machine.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::simulated {

/// The links from a node to another node, in order.
struct route {
  static constexpr std::size_t max_links = 5;  // local, global, local, global, local
  std::array<std::uint32_t, max_links> links{};
  std::uint32_t count = 0;
  void add(std::size_t link) noexcept { links[count++] = static_cast<std::uint32_t>(link); }
};

class topology {
 public:
  explicit topology(const machine& described);

  /// Depends on the two nodes alone, so messages between two nodes keep their order. REQUIRES:
  /// from != to.
  [[nodiscard]] route route_of(int from, int to) const noexcept;
  /// The head of a message reaches the link at `time`. Returns the time when the head has passed.
  double cross(std::uint32_t link, double time, std::size_t bytes) noexcept {
    const double begins = time > free_at_[link] ? time : free_at_[link];
    free_at_[link] = begins + static_cast<double>(bytes) * machine_.topology.link_per_byte;
    return begins + machine_.topology.hop;
  }
  /// Seconds between the first and last byte of a message at the rate of the links.
  [[nodiscard]] double link_seconds(const route& links, std::size_t bytes) const noexcept {
    return links.count == 0 ? 0 : static_cast<double>(bytes - 1) * machine_.topology.link_per_byte;
  }

 private:
  struct position {
    int group, router;
  };
  void add_local(route& links, position& at, int to_router) const noexcept;
  void add_global(route& links, position& at, int to_group, int link) const noexcept;

  const machine& machine_;
  int groups_ = 0;
  // Fat tree: links up, then links down, by switch and uplink. Dragonfly: links within a group by
  // group and two routers, then links between groups by two groups and number.
  std::vector<double> free_at_;
  std::size_t second_part_ = 0;  // where links down, or between groups, begin
};

}  // namespace longshore::simulated
