// The shortest of some round trips counts. The first trip also waits until both ranks are there, and
// does not count. Where other programs use the cores, the ranks may run one after the other: then
// the first long trip ends the probe.
#include "harness/line_probe.hpp"

#include <longshore/transport/waiter.hpp>

#include "harness/statistics.hpp"

#include <algorithm>
#include <new>
#include <vector>

namespace longshore::bench {
namespace {

constexpr std::uint64_t round_trips = 10;
constexpr double max_trip_seconds = 5e-6;  // a longer trip has waited for a core

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
  const std::uint64_t first = trip_ + 1, last = trip_ + round_trips;
  if (team_.rank() > partner_) {
    while (trip_ < last) {
      trip_ = await_trip(trip_ + 1);
      partner_line_->store(trip_, std::memory_order_release);
    }
    return 0;
  }
  double shortest = max_trip_seconds;
  while (trip_ < last) {
    const double began = team_.now();
    partner_line_->store(++trip_, std::memory_order_release);
    static_cast<void>(await_trip(trip_));
    if (trip_ == first) continue;
    const double seconds = team_.now() - began;
    shortest = std::min(shortest, seconds);
    if (seconds > max_trip_seconds) partner_line_->store(trip_ = last, std::memory_order_release);
  }
  return shortest < max_trip_seconds ? shortest : 0;
}

std::uint64_t line_probe::await_trip(std::uint64_t least) {
  for (waiter wait(team_, "the line probe", partner_);; wait.pause())
    if (const auto trip = own_line_->load(std::memory_order_acquire); trip >= least) return trip;
}

std::optional<cache_line_seconds> line_probe::over_pairs(
    std::span<const double> of_this_rank) const {
  std::vector<double> medians;
  for (const double seconds : of_this_rank) {
    auto of_pairs = team_.allgather_value(seconds);
    std::erase(of_pairs, 0.0);
    if (!of_pairs.empty()) medians.push_back(quantile(of_pairs, 0.5));
  }
  if (medians.empty()) return std::nullopt;
  return cache_line_seconds{quantile(medians, 0.5), quantile(medians, 0.1), quantile(medians, 0.9)};
}

}  // namespace longshore::bench
