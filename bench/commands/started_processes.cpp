// Asks the launcher, not MPI, because the transport has not been started.
#include "commands/started_processes.hpp"

#include <longshore/core/launcher.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <thread>

namespace longshore::bench {

bool is_first_process() {
  const auto processes = launched();
  return !processes || processes->rank == 0;
}

int processes_launched() {
  const auto processes = launched();
  return processes ? processes->count : 0;
}

bool ranks_are_processes(const std::string& transport) {
  return transport.empty() ? processes_launched() > 0 : !detail::is_one_process(transport);
}

void print_error(const std::string& message) {
  constexpr auto time_to_print = std::chrono::seconds(2);
  if (is_first_process())
    fmt::print(stderr, "longshore-bench: {}\n", message);
  else
    std::this_thread::sleep_for(time_to_print);
}

}  // namespace longshore::bench
