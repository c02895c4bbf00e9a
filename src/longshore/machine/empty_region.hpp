// Measures the time of an empty parallel region. Only loops that take longer can gain from tasks.
#pragma once

#include <longshore/machine/tasks.hpp>

namespace longshore {

/// The median time, in seconds, of empty regions of these tasks. The measured regions follow each
/// other directly, so the threads of `workers` are awake; after a pause a region takes longer if
/// its threads have to wake up. With the layer tbb the result can be too small: the caller may
/// finish an empty region alone, before other threads wake up. The measurement takes at most some
/// milliseconds if each task has a core. Must not be called inside a task.
[[nodiscard]] double empty_region_seconds(tasks& workers);

}  // namespace longshore
