// A variant is a collective operation, so all ranks agree on the request and on the variants to
// run. Each process has read its own command line and inspected its own host. Hosts may differ in
// caches (which decide defaults), libraries and huge pages.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/sweep.hpp"
#include "harness/variants.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// The part of a request that a sweep needs.
struct agreed_request {
  std::vector<factor_levels> factors;
  sweep_options options;
};

/// Collective. Returns the request of rank 0. If some ranks are to measure another pattern, those
/// ranks throw errc::usage, and all other ranks throw errc::peer_failed.
[[nodiscard]] agreed_request agree_on_request(team& ranks, const std::string& pattern_name,
                                              const agreed_request& of_this_rank);

/// Collective. Divides the settled variants into variants to run and variants to skip. If any rank
/// cannot run a variant, all ranks skip the variant, with the reason of the lowest such rank.
[[nodiscard]] variants choose_variants(team& ranks, const pattern& measured,
                                       std::span<const factor_levels> factors,
                                       const launch_facts& launch);

}  // namespace longshore::bench
