// How ranks of MPI learn who will send to them (learn_sources.hpp). This header has no MPI types, so
// that files outside this folder can include the header.
#pragma once

#include <longshore/transport/team.hpp>

#include <span>
#include <vector>

namespace longshore::mpi {

/// Collective. The ranks that have this rank among their `destinations`, in any order. REQUIRES: a
/// team of the mpi transport.
[[nodiscard]] std::vector<int> nonblocking_consensus(team& ranks,
                                                     std::span<const int> destinations);

}  // namespace longshore::mpi
