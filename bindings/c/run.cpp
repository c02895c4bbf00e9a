// Function longshore_run. It links all transports and tasking layers, which programs that join a
// communicator do not.
#include "handles.hpp"
#include "longshore.h"

#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

extern "C" {

using namespace longshore;
using namespace longshore::bindings;

int longshore_run(int argc, char** argv, longshore_main body, void* context) {
  return guarded([&] {
    required(body, "the function to run");
    detail::link_task_layers();
    longshore::run(argc, argv, [body, context](longshore::team& ranks) {
      longshore_team handle(ranks);
      forget_error();  // so that a code stored below is of a call in this run
      const int status = body(&handle, context);
      if (status == 0) return handle.complete();
      // If the code is of a failed call of the library, its message is still stored.
      if (status >= LONGSHORE_ERROR_USAGE && status <= LONGSHORE_ERROR_TRANSPORT &&
          status == stored_code())
        throw error(static_cast<errc>(status), longshore_error_message());
      throw program_failure(fmt::format(
          "the function given to longshore_run returned {} on rank {}", status, ranks.rank()));
    });
  });
}

}  // extern "C"
