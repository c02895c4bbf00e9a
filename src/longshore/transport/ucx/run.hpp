// Starting and ending a run whose ranks are processes that UCX connects.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/ucx/detail/process_bootstrap.hpp>

#include <functional>

namespace longshore::ucx {

/// Collective over all processes of `bootstrap`. Runs `body` with the team of this process.
void run(process_bootstrap& bootstrap, const run_options& options,
         const std::function<void(longshore::team&)>& body);

}  // namespace longshore::ucx
