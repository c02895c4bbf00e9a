// Changes the exit status in a handler of atexit. On Linux, exit() in a handler runs the remaining
// handlers with the new status, so the libraries of all languages still write what they have
// buffered.
#include <longshore/core/failing_exit.hpp>

#include <atomic>
#include <cstdlib>

namespace longshore {
namespace {

std::atomic<int> failure_status = 0;

}  // namespace

void fail_at_exit(int status) {
  if (failure_status.exchange(status) == 0) std::atexit([] { std::exit(failure_status.load()); });
}

}  // namespace longshore
