// Runs a program on a simulated machine.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>

namespace longshore::simulated {

/// Runs `body` on options.ranks simulated ranks (by default all of the machine), in this thread.
/// Returns when all ranks have ended; rethrows the first failure. The file options.machine
/// describes the machine.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

}  // namespace longshore::simulated
