// Starting and ending a run whose ranks are MPI processes.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>
#include <memory>

namespace longshore::mpi {

/// Initialises MPI unless the program has done so. The destructor finalises MPI if the constructor
/// initialised it.
class environment {
 public:
  environment();
  ~environment();
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  bool owns_mpi_ = false;
};

/// Collective over MPI_COMM_WORLD. Runs `body` with the team of this process. After an exception
/// run() does not return: all processes end, with exit status 3 and one message per host.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

/// Runs `body` on the ranks of the communicator that `communicator` (an MPI_Comm*) points to. An
/// exception also ends the processes outside that communicator.
void run(const void* communicator, const run_options& options,
         const std::function<void(longshore::team&)>& body);

/// Collective over MPI_COMM_WORLD. The team also owns an `environment`. Errors are thrown, and end
/// no other process. See launch/join.hpp.
[[nodiscard]] std::shared_ptr<longshore::team> join(const run_options& options);
/// Collective over the communicator that `communicator` (an MPI_Comm*) points to. `headers`:
/// headers_name of the caller, or null. Throws errc::usage for what longshore/mpi.hpp lists.
[[nodiscard]] std::shared_ptr<longshore::team> join(const void* communicator, const char* headers,
                                                    const run_options& options);

}  // namespace longshore::mpi
