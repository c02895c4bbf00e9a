// Exit statuses of longshore-bench; scripts rely on them.
#pragma once

namespace longshore::bench {

enum exit_status : int { all_right = 0, wrong_result = 1, nothing_ran = 2, runtime_failure = 3 };

}  // namespace longshore::bench
