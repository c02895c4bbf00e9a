// How a test runs a body on every rank of a transport that is chosen on its command line.
#pragma once

#include <longshore/transport/team.hpp>

#include <functional>

namespace longshore::testing {

/// Runs `body` on all ranks of this test run. On threads an exception that it throws fails the
/// test; on mpi it ends the run.
void spmd(const std::function<void(team&)>& body);

}  // namespace longshore::testing
