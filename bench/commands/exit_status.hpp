// Exit statuses of longshore-bench. Scripts rely on their values. Transports that end a process
// after a failure use the status of runtime_failure, too.
#pragma once

#include <longshore/core/error.hpp>

namespace longshore::bench {

enum exit_status : int {
  all_right = 0,     ///< all variants that ran were verified, or were not to be verified
  wrong_result = 1,  ///< at least one result was wrong
  nothing_ran = 2,   ///< a wrong command line, or no variant can run here
  runtime_failure = 3
};

/// The exit status of a command that ended with `failure`.
inline exit_status status_of(const error& failure) {
  const bool nothing = failure.code() == errc::usage || failure.code() == errc::unsupported;
  return nothing ? nothing_ran : runtime_failure;
}

}  // namespace longshore::bench
