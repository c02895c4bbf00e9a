// Starting and ending a run whose ranks are processing elements of OpenSHMEM.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>

namespace longshore::shmem {

/// Starts OpenSHMEM, once in a process, and ends it.
class environment {
 public:
  environment();
  ~environment();
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
};

/// Collective over all processing elements. REQUIRES: an environment.
void run(const run_options& options, const std::function<void(longshore::team&)>& body);

}  // namespace longshore::shmem
