// How long it takes to start and end a parallel region: what a loop must last to be worth dividing.
#pragma once

#include <longshore/machine/tasks.hpp>

namespace longshore {

/// Median seconds of an empty region of these tasks, one right after the other. Takes a few hundred
/// regions, some milliseconds at most where tasks have a core each. Of the layer tbb an empty
/// region may be one that the caller ran alone, before the others woke. Not to be called from
/// inside a task.
[[nodiscard]] double region_start_seconds(tasks& workers);

}  // namespace longshore
