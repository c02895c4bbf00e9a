// Kernels shift, barrier and fetch-add of pattern control: the cost of a message when all ranks
// send at the same time. From these costs, for several sizes and kinds of transfer, the study tool
// predicts whole exchanges.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

#include <memory>
#include <string>

namespace longshore::bench {

/// All three functions are collective, as pattern::make. With `pair` they throw errc::unsupported
/// if there are no such peers.
[[nodiscard]] std::unique_ptr<measurement> make_shift(team& ranks, const std::string& over,
                                                      const std::string& pair, std::size_t bytes);
[[nodiscard]] std::unique_ptr<measurement> make_barrier(team& ranks);
[[nodiscard]] std::unique_ptr<measurement> make_fetch_add(team& ranks, const std::string& pair);

}  // namespace longshore::bench
