#include <longshore/transport/one_sided/team.hpp>
#include <longshore/transport/ucx/library.hpp>
#include <longshore/transport/ucx/run.hpp>

#include <exception>

namespace longshore::ucx {

void run(process_group& group, const run_options& options,
         const std::function<void(longshore::team&)>& body) {
  try {
    library lib(group, options.timeout_seconds);
    one_sided::run(lib, options, body);
  } catch (...) {  // of the start: the others wait for this rank, without a deadline
    group.end_all(std::current_exception());
  }
}

}  // namespace longshore::ucx
