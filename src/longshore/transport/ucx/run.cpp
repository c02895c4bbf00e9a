// Runs a program over UCX: starts the library, and ends all processes if the start fails.
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/ucx/detail/library.hpp>
#include <longshore/transport/ucx/run.hpp>

#include <exception>

namespace longshore::ucx {

void run(process_bootstrap& bootstrap, const run_options& options,
         const std::function<void(longshore::team&)>& body) {
  try {
    library lib(bootstrap, *with_environment(options).timeout_seconds);
    one_sided::run(lib, options, body);
  } catch (...) {  // an error of the start, where other ranks wait for this rank without a deadline
    bootstrap.abort(std::current_exception());
  }
}

}  // namespace longshore::ucx
