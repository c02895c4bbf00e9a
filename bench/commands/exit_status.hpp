// Exit statuses of longshore-bench. Scripts rely on their values. Transports that end a process
// after a failure use the status of runtime_failure, too.
#pragma once

namespace longshore::bench {

enum exit_status : int {
  all_right = 0,     ///< all variants that ran were verified, or were not to be verified
  wrong_result = 1,  ///< at least one result was wrong
  nothing_ran = 2,   ///< a wrong command line, or no variant can run here
  runtime_failure = 3
};

}  // namespace longshore::bench
