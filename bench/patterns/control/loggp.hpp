// Kernel loggp of pattern control: the parameters of the LogGP model of a pair of ranks (A.
// Alexandrov, M. Ionescu, K. Schauser, C. Scheiman: LogGP: incorporating long messages into the
// LogP model, SPAA 1995), measured on this library's channels and puts.
//
// A message of s bytes costs its sender o_s, travels for L + (s - 1) G, and costs its receiver o_r.
// The smallest gap between messages of one sender is g + (s - 1) G. The method is that of T.
// Hoefler, A. Lichei, W. Rehm (Low-overhead LogGP parameter assessment for modern interconnection
// networks, IPDPS 2007, as in Netgauge): n messages, d seconds apart, and one answer take
// PRTT(n, d, s). The method compares no two clocks.
//
//   PRTT(1, 0, s) = 2 L + 2 (o_s + o_r) + 2 (s - 1) G         an answer of the same size
//   PRTT(n, 0, s) = PRTT(1, 0, s) + (n - 1) (g + (s - 1) G)   over s: slope G, intercept g
//   PRTT(n, d, s) = PRTT(1, 0, s) + (n - 1) (d + o_s)         for d longer than the gap
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

#include <memory>
#include <string>

namespace longshore::bench {

/// Collective, as pattern::make. `over`: channel or put. `pair`: rank 0 and, "near", the rank of
/// its node that shares most of the hardware with it, if ranks are bound; "far", the one that
/// shares least; "remote", the first rank of another node. Throws errc::unsupported if there is no
/// such pair. The other ranks do nothing.
[[nodiscard]] std::unique_ptr<measurement> make_loggp(team& ranks, const std::string& over,
                                                      const std::string& pair);

}  // namespace longshore::bench
