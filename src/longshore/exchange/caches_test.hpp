// For tests of plans: caches that are near or far, whatever the machine has.
#pragma once

#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/transport/team.hpp>

#include <map>
#include <utility>

namespace longshore::testing {

/// During its lifetime, plans of the team are made for caches that are all near or all far.
class assumed_caches {
 public:
  assumed_caches(team& team, bool are_far) : caches_(detail::node_access::of(team).caches()) {
    std::map<int, detail::pair_caches> assumed;
    for (int rank = 0; rank < team.size(); ++rank)
      if (team.nodes().is_local(rank))
        assumed[rank] = are_far ? detail::pair_caches::assumed_far() : detail::pair_caches{};
    measured_ = std::exchange(caches_, std::move(assumed));
  }
  ~assumed_caches() { caches_ = std::move(measured_); }
  assumed_caches(const assumed_caches&) = delete;
  assumed_caches& operator=(const assumed_caches&) = delete;

 private:
  std::map<int, detail::pair_caches>& caches_;
  std::map<int, detail::pair_caches> measured_;
};

}  // namespace longshore::testing
