#include "harness/agreed_request.hpp"

#include <longshore/transport/agree_on_errors.hpp>

#include <fmt/format.h>

#include <cstdint>

namespace longshore::bench {
namespace {

std::string text_of_rank(team& ranks, std::string text, int rank) {
  text.resize(ranks.broadcast_value(text.size(), rank));
  if (!text.empty()) ranks.broadcast(std::as_writable_bytes(std::span(text)), rank);
  return text;
}

}  // namespace

agreed_request agree_on_request(team& ranks, const std::string& pattern_name,
                                const agreed_request& mine) {
  json levels = json::array();
  for (const auto& factor : mine.factors) levels.push_back({factor.name, factor.levels});
  const json first =
      json::parse(text_of_rank(ranks, json{pattern_name, std::move(levels)}.dump(), 0));
  agree_on_errors(ranks, "the launch", [&] {
    if (const auto theirs = first[0].get<std::string>(); theirs != pattern_name)
      fail(errc::usage,
           "rank {} is to measure {}, and rank 0 {}: all processes need the same command line",
           ranks.rank(), pattern_name, theirs);
  });
  agreed_request agreed{.factors = {}, .how = ranks.broadcast_value(mine.how)};
  for (const auto& factor : first[1])
    agreed.factors.push_back({factor[0].get<std::string>(), factor[1].get<std::vector<json>>()});
  return agreed;
}

variants choose_variants(team& ranks, const pattern& what, std::span<const factor_levels> factors,
                         const launch_facts& launch) {
  auto candidates = settled_variants(what, factors);
  std::vector<std::string> reasons;
  std::vector<std::int64_t> first;  // rank that has a reason
  for (const auto& candidate : candidates) {
    reasons.push_back(what.why_not ? what.why_not(candidate, launch).value_or("") : "");
    first.push_back(reasons.back().empty() ? ranks.size() : ranks.rank());
  }
  if (!first.empty()) ranks.allreduce(std::span(first), reduction::min);
  variants chosen;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const int rank = static_cast<int>(first[i]);
    if (rank == ranks.size()) {
      chosen.to_run.push_back(std::move(candidates[i]));
      continue;
    }
    std::string why = std::move(reasons[i]);
    if (rank > 0)
      why = fmt::format("on rank {}: {}", rank, text_of_rank(ranks, std::move(why), rank));
    chosen.skipped.push_back({std::move(candidates[i]), std::move(why)});
  }
  return chosen;
}

}  // namespace longshore::bench
