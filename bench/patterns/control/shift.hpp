// Kernels shift, barrier and fetch-add of pattern control: the cost of one message when all ranks
// send one at the same time, by size and by kind of transfer. From these a model predicts whole
// exchanges.
#pragma once

#include "harness/measurement.hpp"

#include <longshore/transport/team.hpp>

#include <memory>
#include <string>

namespace longshore::bench {

/// Collective, as pattern::make. Throw errc::unsupported with a reason if there are no such peers.
[[nodiscard]] std::unique_ptr<measurement> make_shift(team& ranks, const std::string& over,
                                                      const std::string& pair, std::size_t bytes);
[[nodiscard]] std::unique_ptr<measurement> make_barrier(team& ranks);
[[nodiscard]] std::unique_ptr<measurement> make_fetch_add(team& ranks, const std::string& pair);

}  // namespace longshore::bench
