// Running the body of a test on every rank of the transport that the command line selects.
#pragma once

#include <longshore/transport/team.hpp>

#include <functional>

namespace longshore::testing {

/// Runs `body` on all ranks. If `body` throws, the test fails on threads; on the other transports
/// the run ends.
void spmd(const std::function<void(team&)>& body);

}  // namespace longshore::testing
