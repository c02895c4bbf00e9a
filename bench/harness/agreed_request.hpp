// The agreement of all ranks, before the first variant, on the request and on the variants to run.
//
// Every process reads its own command line and inspects its own host. Hosts may differ in defaults
// that depend on caches, in libraries and in huge pages, but each variant is a collective
// operation.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/sweep_options.hpp"
#include "harness/variants.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// The part of a request that a sweep needs.
struct agreed_request {
  std::vector<factor_levels> factors;
  sweep_options how;
};

/// Collective. The request of rank 0. Throws errc::usage on a rank whose request names another
/// pattern, and errc::peer_failed on the others.
[[nodiscard]] agreed_request agree_on_request(team& ranks, const std::string& pattern_name,
                                              const agreed_request& mine);

/// Collective. The settled variants, divided into those to run and those to skip. If any rank
/// cannot run a variant, all skip it, with the reason of the lowest such rank.
[[nodiscard]] variants choose_variants(team& ranks, const pattern& what,
                                       std::span<const factor_levels> factors,
                                       const launch_facts& launch);

}  // namespace longshore::bench
