// Starting and ending a run whose ranks are threads.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>
#include <memory>

namespace longshore::threads {

/// Runs `body` on options.ranks threads. The calling thread is rank 0. Returns when all ranks have
/// ended; rethrows the first failure.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

/// A team of one rank, the calling thread. Throws errc::usage if options.ranks is more than one,
/// because several threads need a body to run.
[[nodiscard]] std::shared_ptr<longshore::team> join(const run_options& options);

}  // namespace longshore::threads
