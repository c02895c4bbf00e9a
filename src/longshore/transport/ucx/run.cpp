#include <longshore/transport/one_sided/team.hpp>
#include <longshore/transport/ucx/library.hpp>
#include <longshore/transport/ucx/run.hpp>

namespace longshore::ucx {

void run(process_group& group, const run_options& options, const std::function<void(longshore::team&)>& body) {
  library lib(group, options.timeout_seconds);
  one_sided::run(lib, options, body);
}

}  // namespace longshore::ucx
