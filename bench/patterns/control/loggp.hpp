// Kernel loggp of pattern control: the parameters of the LogGP model of a pair of ranks (A.
// Alexandrov, M. Ionescu, K. Schauser, C. Scheiman: LogGP: incorporating long messages into the
// LogP model, SPAA 1995), measured on this library's channels and puts.
//
// In the model, a message of s bytes costs its sender o_s seconds, travels for L + (s - 1) G, and
// costs its receiver o_r. The shortest gap between two messages of a sender is g + (s - 1) G.
//
// PRTT(n, d, s) is the time of n messages of s bytes, d seconds apart, and one reply of the same
// size. The method, which needs only the sender's clock, is that of T. Hoefler, A. Lichei, W. Rehm
// (Low-overhead LogGP parameter assessment for modern interconnection networks, IPDPS 2007, as in
// Netgauge):
//
//   PRTT(1, 0, s) = 2 L + 2 (o_s + o_r) + 2 (s - 1) G
//   PRTT(n, 0, s) = PRTT(1, 0, s) + (n - 1) (g + (s - 1) G)   a line over s gives G and g
//   PRTT(n, d, s) = PRTT(1, 0, s) + (n - 1) (d + o_s)         if d is longer than the gap
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

#include <memory>
#include <string>

namespace longshore::bench {

/// Collective, as pattern::make. `over` is channel or put. `pair` selects the partner of rank 0.
/// "near" and "far" are the ranks of its node that share the most and the least hardware with rank
/// 0, if ranks are bound. "remote" is the first rank of the second node. Throws errc::unsupported
/// if there is no such partner. All other ranks do nothing.
[[nodiscard]] std::unique_ptr<measurement> make_loggp(team& ranks, const std::string& over,
                                                      const std::string& pair);

}  // namespace longshore::bench
