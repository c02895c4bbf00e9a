// What the ranks of a launch agree on before the first variant: what was asked for, and what can be run.
//
// Every process reads its own command line and looks at its own host. But how many elements a default has, and whether a library or
// huge pages are there, may differ from host to host; and each variant is a collective operation.
#pragma once

#include <longshore/transport/team.hpp>

#include "harness/sweep_options.hpp"
#include "harness/variants.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// The part of a request by which a walk goes.
struct agreed_request {
  std::vector<factor_levels> factors;
  sweep_options how;
};

/// Collective. What rank 0 was asked for. Throws errc::usage where another rank was told to measure another pattern (errc::peer_failed on
/// the others).
[[nodiscard]] agreed_request agree_on_request(team& ranks, const std::string& pattern_name, const agreed_request& mine);

/// Collective. The settled variants, divided by what the pattern says of them. What one rank cannot run nobody runs, for the reason of the
/// lowest such rank.
[[nodiscard]] variants choose_variants(team& ranks, const pattern& what, std::span<const factor_levels> factors,
                                       const launch_facts& launch);

}  // namespace longshore::bench
