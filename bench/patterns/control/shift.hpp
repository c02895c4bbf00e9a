// Kernels shift, barrier and fetch-add of pattern control: what one message costs when all ranks send one at the same time, by the
// number of its bytes and the way it travels. From these a model predicts whole exchanges.
#pragma once

#include "harness/pattern.hpp"

#include <memory>
#include <optional>
#include <string>

namespace longshore::bench {

/// Why ranks cannot all send to a rank of their own node ("near"), or of another ("remote"), one to one; or nothing.
[[nodiscard]] std::optional<std::string> why_no_peers(const std::string& pair, const node_map& nodes);

/// The rank to which this one sends when all send at once: the next one of its node, or the one in its place on the next node. A
/// permutation. REQUIRES: why_no_peers says nothing.
[[nodiscard]] int shift_target(const std::string& pair, const node_map& nodes, int rank);

/// Collective, as pattern::make. Throw errc::unsupported with the reason where there are no such peers.
[[nodiscard]] std::unique_ptr<measurement> make_shift(team& ranks, const std::string& over, const std::string& pair,
                                                      std::size_t bytes);
[[nodiscard]] std::unique_ptr<measurement> make_barrier(team& ranks);
[[nodiscard]] std::unique_ptr<measurement> make_fetch_add(team& ranks, const std::string& pair);

}  // namespace longshore::bench
