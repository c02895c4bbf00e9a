// The dynamic sparse data exchange: ranks know to whom they will send, and learn from whom they will
// receive (T. Hoefler, C. Siebert, A. Lumsdaine, "Scalable Communication Protocols for Dynamic
// Sparse Data Exchange", PPoPP 2010).
#pragma once

#include <longshore/transport/team.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

enum class announcement {
  automatic,   ///< collective on few ranks, sparse on many
  collective,  ///< an alltoall of one byte per rank
  sparse       ///< algorithm NBX of the paper over MPI; else two remote accesses per destination
};

/// Collective. Returns, in ascending order, the ranks whose `destinations` include this rank.
[[nodiscard]] std::vector<int> learn_sources(team& ranks, std::span<const int> destinations,
                                             announcement by = announcement::automatic);

}  // namespace longshore::detail

namespace longshore::mpi {

/// Collective. Like learn_sources(), by algorithm NBX of the paper over MPI. The ranks are in any
/// order. REQUIRES: a team of the mpi transport.
[[nodiscard]] std::vector<int> nonblocking_consensus(longshore::team& ranks,
                                                     std::span<const int> destinations);

}  // namespace longshore::mpi
