// Reads the environment variables in which launchers tell a process its rank and the number of
// processes. MPI itself cannot be asked, because the transport has not been started.
#include "commands/started_processes.hpp"

#include <longshore/core/environment.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace longshore::bench {

bool is_first_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const auto rank = environment_text(name)) return *rank == "0";
  return true;
}

int processes_launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const auto size = environment_text(name)) return std::max(1, std::atoi(size->c_str()));
  return 0;
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
