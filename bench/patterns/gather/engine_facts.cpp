#include "patterns/gather/engine_facts.hpp"

#include <algorithm>
#include <optional>

namespace longshore::bench {
namespace {

json or_null(std::optional<double> value) { return value ? json(*value) : json(nullptr); }

// Sums over all ranks, per operation.
json hops_of(team& ranks, const char* direction, const engine_stats& mine, double operations) {
  json hops = json::array();
  for (std::size_t h = 0; h < mine.hops.size(); ++h) {
    std::vector<std::int64_t> sums;
    for (const auto number : hop_counters)
      sums.push_back(static_cast<std::int64_t>(mine.hops[h].*number));
    ranks.allreduce(sums, reduction::sum);
    hop_stats all;
    for (std::size_t k = 0; k < hop_counters.size(); ++k)
      all.*hop_counters[k] = static_cast<std::uint64_t>(sums[k]);
    const auto each = [&](std::uint64_t number) {
      return static_cast<double>(number) / operations;
    };
    hops.push_back({{"direction", direction},
                    {"hop", h + 1},
                    {"messages", each(all.messages)},
                    {"partial", each(all.partial_messages)},
                    {"fill", all.messages > 0 ? json(all.mean_fill()) : json(nullptr)},
                    {"items", each(all.items)},
                    {"payload_bytes", each(all.payload_bytes)},
                    {"wire_bytes", each(all.wire_bytes)},
                    {"offnode_bytes", each(all.offnode_bytes)},
                    {"refusals", each(all.refusals)}});
  }
  return hops;
}

json latency_of(team& ranks, engine_stats mine) {
  ranks.allreduce(mine.latency.counts(), reduction::sum);
  return {{"samples", mine.latency.count()},
          {"p50", or_null(mine.latency.percentile(0.5))},
          {"p90", or_null(mine.latency.percentile(0.9))},
          {"p99", or_null(mine.latency.percentile(0.99))}};
}

}  // namespace

void engine_facts::end(const exchange_stats& now, const repetition& seconds, long iterations) {
  timed_ += now - before_;
  ++repetitions_;
  operations_ += iterations;
  seconds_ += seconds.mean * static_cast<double>(iterations);
}

json engine_facts::facts(team& ranks) {
  if (operations_ == 0 || timed_.requests.hops.empty()) return json::object();
  const auto operations = static_cast<double>(operations_);
  const bool replies = !timed_.replies.hops.empty();
  json hops = hops_of(ranks, "requests", timed_.requests, operations);
  json latency{{"requests", latency_of(ranks, timed_.requests)}};
  if (replies) {
    for (auto& hop : hops_of(ranks, "replies", timed_.replies, operations))
      hops.push_back(std::move(hop));
    latency["replies"] = latency_of(ranks, timed_.replies);
  }
  const auto waited = [&](double mine) {
    const double each = mine / operations;
    return json{{"mean", ranks.allreduce_value(each, reduction::sum) / ranks.size()},
                {"max", ranks.allreduce_value(each, reduction::max)}};
  };
  const json slot =
      waited(timed_.requests.seconds_without_slot + timed_.replies.seconds_without_slot);
  const json arrival =
      waited(timed_.requests.seconds_nothing_arrived + timed_.replies.seconds_nothing_arrived);
  return {{"engine",
           {{"repetitions", repetitions_},
            {"operations", operations_},
            {"seconds", seconds_ / operations},
            {"waited_seconds", {{"slot", slot}, {"arrival", arrival}}},
            {"latency_seconds", latency},
            {"hops", hops}}}};
}

}  // namespace longshore::bench
