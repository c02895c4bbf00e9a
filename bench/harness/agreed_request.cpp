// Rank 0 broadcasts its request as JSON text. One reduction over all ranks then finds, for each
// variant, the lowest rank that cannot run the variant.
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
                                const agreed_request& of_this_rank) {
  json levels = json::array();
  for (const auto& factor : of_this_rank.factors) levels.push_back({factor.name, factor.levels});
  const json of_rank_0 =
      json::parse(text_of_rank(ranks, json{pattern_name, std::move(levels)}.dump(), 0));
  agree_on_errors(ranks, "the launch", [&] {
    if (const auto other_name = of_rank_0[0].get<std::string>(); other_name != pattern_name)
      fail(errc::usage,
           "rank {} is to measure {}, and rank 0 {}: all processes need the same command line",
           ranks.rank(), pattern_name, other_name);
  });
  agreed_request agreed{.factors = {}, .options = ranks.broadcast_value(of_this_rank.options)};
  for (const auto& factor : of_rank_0[1])
    agreed.factors.push_back({factor[0].get<std::string>(), factor[1].get<std::vector<json>>()});
  return agreed;
}

variants choose_variants(team& ranks, const pattern& measured,
                         std::span<const factor_levels> factors, const launch_facts& launch) {
  auto candidates = settled_variants(measured, factors);
  std::vector<std::string> reasons;
  std::vector<std::int64_t> first_refusing;  // lowest rank with a reason; else the number of ranks
  for (const auto& candidate : candidates) {
    reasons.push_back(measured.why_not ? measured.why_not(candidate, launch).value_or("") : "");
    first_refusing.push_back(reasons.back().empty() ? ranks.size() : ranks.rank());
  }
  if (!first_refusing.empty()) ranks.allreduce(std::span(first_refusing), reduction::min);
  variants chosen;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const int rank = static_cast<int>(first_refusing[i]);
    if (rank == ranks.size()) {
      chosen.to_run.push_back(std::move(candidates[i]));
      continue;
    }
    std::string reason = std::move(reasons[i]);
    if (rank > 0)
      reason = fmt::format("on rank {}: {}", rank, text_of_rank(ranks, std::move(reason), rank));
    chosen.skipped.push_back({std::move(candidates[i]), std::move(reason)});
  }
  return chosen;
}

}  // namespace longshore::bench
