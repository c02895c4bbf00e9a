// Adds up the statistics of the timed repetitions on each rank, sums them over all ranks, and
// divides the sums by the number of operations.
#include "patterns/gather/engine_facts.hpp"

#include <algorithm>
#include <optional>

namespace longshore::bench {
namespace {

json or_null(std::optional<double> value) { return value ? json(*value) : json(nullptr); }

// Collective. For each hop the sums over all ranks, divided by the number of operations. All ranks
// have the same number of hops, because the hops belong to the strategy, so all ranks make the same
// number of reductions.
json hops_of(team& ranks, const char* direction, const engine_stats& stats, double operations) {
  json hops = json::array();
  for (std::size_t h = 0; h < stats.hops.size(); ++h) {
    std::vector<std::int64_t> sums;
    for (const auto counter : hop_counters)
      sums.push_back(static_cast<std::int64_t>(stats.hops[h].*counter));
    ranks.allreduce(sums, reduction::sum);
    hop_stats total;
    for (std::size_t k = 0; k < hop_counters.size(); ++k)
      total.*hop_counters[k] = static_cast<std::uint64_t>(sums[k]);
    const auto per_operation = [&](std::uint64_t number) {
      return static_cast<double>(number) / operations;
    };
    hops.push_back({{"direction", direction},
                    {"hop", h + 1},
                    {"messages", per_operation(total.messages)},
                    {"partial", per_operation(total.partial_messages)},
                    {"fill", total.messages > 0 ? json(total.mean_fill()) : json(nullptr)},
                    {"items", per_operation(total.items)},
                    {"payload_bytes", per_operation(total.payload_bytes)},
                    {"wire_bytes", per_operation(total.wire_bytes)},
                    {"offnode_bytes", per_operation(total.offnode_bytes)},
                    {"refusals", per_operation(total.refusals)},
                    {"streamed_bytes", per_operation(total.streamed_bytes)}});
  }
  return hops;
}

// Collective. The latency histogram has the same buckets on all ranks, so an allreduce adds the
// histograms.
json latency_of(team& ranks, engine_stats stats) {
  ranks.allreduce(stats.latency.counts(), reduction::sum);
  return {{"samples", stats.latency.count()},
          {"p50", or_null(stats.latency.percentile(0.5))},
          {"p90", or_null(stats.latency.percentile(0.9))},
          {"p99", or_null(stats.latency.percentile(0.99))}};
}

}  // namespace

void engine_facts::end(const exchange_stats& stats, const repetition& seconds, long iterations) {
  timed_ += stats - begin_;
  ++repetitions_;
  operations_ += iterations;
  // A repetition has the seconds of one operation, but the waits in `stats` are those of all
  // `iterations` operations.
  seconds_ += seconds.mean * static_cast<double>(iterations);
}

json engine_facts::facts(team& ranks) {
  // This condition and the next are the same on all ranks, as the collective calls below require:
  // the hops belong to the strategy.
  if (operations_ == 0 || timed_.requests.hops.empty()) return json::object();
  const auto operations = static_cast<double>(operations_);
  const bool has_replies = !timed_.replies.hops.empty();
  json hops = hops_of(ranks, "requests", timed_.requests, operations);
  json latency{{"requests", latency_of(ranks, timed_.requests)}};
  if (has_replies) {
    for (auto& hop : hops_of(ranks, "replies", timed_.replies, operations))
      hops.push_back(std::move(hop));
    latency["replies"] = latency_of(ranks, timed_.replies);
  }
  // `seconds`: the waiting time of this rank in all operations
  const auto waited = [&](double seconds) {
    const double per_operation = seconds / operations;
    return json{{"mean", ranks.allreduce_value(per_operation, reduction::sum) / ranks.size()},
                {"max", ranks.allreduce_value(per_operation, reduction::max)}};
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
