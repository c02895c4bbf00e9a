// Starting and ending a run whose ranks are threads.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>

namespace longshore::threads {

/// Runs `body` on options.ranks threads, each with its own team. Returns when all have ended; rethrows the first failure. The calling thread
/// is rank 0.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

}  // namespace longshore::threads
