// The time that an empty parallel region takes. A loop must be longer than this to gain from tasks.
#pragma once

#include <longshore/machine/tasks.hpp>

namespace longshore {

/// Median seconds of an empty region of these tasks, when regions follow each other directly.
/// Measures a few hundred regions, which takes at most some milliseconds if each task has a core.
/// With the layer tbb, the caller may finish an empty region alone before the other threads wake
/// up. Must not be called inside a task.
[[nodiscard]] double empty_region_seconds(tasks& workers);

}  // namespace longshore
