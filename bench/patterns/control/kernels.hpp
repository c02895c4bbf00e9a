// The kernels of pattern control. All functions that make a kernel are collective, like
// pattern::make. Those with an argument `pair` throw errc::unsupported if there are no such peers.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

namespace longshore::bench {

constexpr std::size_t pingpong_bytes = 8;  ///< the smallest message, which is a count

/// A memory copy on all ranks at once. Throws errc::out_of_memory if the buffers of all ranks do not
/// fit. By default, source and destination together are at least four times the caches of the
/// machine, as for pattern stream, but at most 512 MiB. Then the record also has the speeds of
/// smaller sizes and of the network (memory_speeds.hpp).
[[nodiscard]] std::unique_ptr<measurement> make_copy(team& ranks, std::optional<std::size_t> bytes);

/// A message from rank 0 to the last rank and back, over a channel.
[[nodiscard]] std::unique_ptr<measurement> make_channel_pingpong(team& ranks, std::size_t bytes);
/// The same ping-pong by calls of the library, which send a message and then a flag. This kernel
/// and make_put() show the cost that the interface of a transport adds to these calls.
[[nodiscard]] std::unique_ptr<measurement> make_raw_pingpong(team& ranks, std::size_t bytes);
/// Rank 0 puts `bytes` bytes into the memory of another rank, repeatedly. `over` is put (of a
/// segment) or raw (the call of the library). `pair` is near (on the same node) or remote. The
/// target waits and lets its library make progress.
[[nodiscard]] std::unique_ptr<measurement> make_put(team& ranks, const std::string& over,
                                                    const std::string& pair, std::size_t bytes);

/// The parameters of the LogGP model of a pair of ranks (loggp.cpp). `over` is channel or put. `pair`
/// selects the partner of rank 0. "near" and "far" are the ranks of its node that share the most and
/// the least hardware with rank 0, if ranks are bound. "remote" is the first rank of the second
/// node. All other ranks do nothing.
[[nodiscard]] std::unique_ptr<measurement> make_loggp(team& ranks, const std::string& over,
                                                      const std::string& pair);

/// The cost of a message when all ranks send at the same time. From these costs, for several sizes
/// and kinds of transfer, the study tool predicts whole exchanges.
[[nodiscard]] std::unique_ptr<measurement> make_shift(team& ranks, const std::string& over,
                                                      const std::string& pair, std::size_t bytes);
/// Collective. The shortest seconds of a message of `bytes` bytes, if every rank sends one to another
/// node and receives one at the same time: of a channel, an alltoallv and (over MPI on one host only)
/// a put, the fastest. Empty if there is one node, or nodes have different numbers of ranks.
[[nodiscard]] std::optional<double> remote_shift_seconds(team& ranks, std::size_t bytes);
[[nodiscard]] std::unique_ptr<measurement> make_barrier(team& ranks);
[[nodiscard]] std::unique_ptr<measurement> make_fetch_add(team& ranks, const std::string& pair);

/// Why no rank is remote to rank 0.
inline constexpr const char* all_on_one_node =
    "all ranks are on one node: none is remote (--ranks-per-node makes virtual nodes)";

/// Copies a message into or out of its buffer. Where time is computed, the bytes of a message
/// within a node cost time. A message between nodes is copied at no computed time, so that the
/// kernels show the network of the machine.
inline void copy_message(team& ranks, int peer, void* to, const void* from, std::size_t bytes) {
  if (ranks.costs() != nullptr && ranks.nodes().is_local(peer)) [[unlikely]]
    ranks.charge_copy(ranks.rank(), bytes);
  std::memcpy(to, from, bytes);
}

}  // namespace longshore::bench
