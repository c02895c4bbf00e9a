// The shortest of some round trips counts: an interruption lengthens one of them only. The first
// trip also waits until both ranks are there, and does not count.
#include "harness/line_probe.hpp"

#include <longshore/transport/waiter.hpp>

#include "harness/statistics.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <vector>

namespace longshore::bench {
namespace {

constexpr int round_trips = 10;

}  // namespace

bool line_probe::is_useful(team& ranks) {
  return ranks.nodes().node_count() < ranks.size() &&
         ranks.allreduce_value(ranks.waiting().spin ? 1 : 0, reduction::min) == 1;
}

line_probe::line_probe(team& ranks)
    : team_(ranks),
      memory_(ranks.allocate(sizeof(trip_number))),
      own_line_(new (memory_->local()) trip_number(0)) {
  const auto neighbours = ranks.nodes().my_ranks();
  const auto position = static_cast<std::size_t>(ranks.nodes().local_index(ranks.rank()) ^ 1);
  if (position < neighbours.size()) {
    partner_ = neighbours[position];
    partner_line_ = std::launder(reinterpret_cast<trip_number*>(memory_->direct(partner_)));
  }
  ranks.barrier();  // all lines are there
}

double line_probe::measure() {
  if (partner_ < 0) return 0;
  const bool is_first = team_.rank() < partner_;
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < round_trips; ++i) {
    ++trip_;
    const double began = team_.now();
    if (!is_first) await_partner();
    partner_line_->store(trip_, std::memory_order_release);
    if (is_first) await_partner();
    if (i > 0) shortest = std::min(shortest, team_.now() - began);
  }
  return is_first ? shortest : 0;
}

void line_probe::await_partner() {
  for (waiter wait(team_, "the line probe", partner_);
       own_line_->load(std::memory_order_acquire) != trip_; wait.pause()) {
  }
}

line_seconds line_probe::over_pairs(std::span<const double> of_this_rank) const {
  std::vector<double> medians;
  for (const double seconds : of_this_rank) {
    auto of_pairs = team_.allgather_value(seconds);
    std::erase(of_pairs, 0.0);
    medians.push_back(quantile(of_pairs, 0.5));
  }
  return {quantile(medians, 0.5), quantile(medians, 0.1), quantile(medians, 0.9)};
}

}  // namespace longshore::bench
