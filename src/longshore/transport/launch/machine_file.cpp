// Reads a machine file as transport simulated does.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/machine_file.hpp>
#ifdef LONGSHORE_HAVE_SIMULATED
#include <longshore/transport/simulated/detail/machine.hpp>
#endif

#include <fstream>

namespace longshore {

void check_machine_file(const std::string& file) {
  if (!std::ifstream(file)) fail(errc::usage, "{}: the machine file cannot be read", file);
#ifdef LONGSHORE_HAVE_SIMULATED
  static_cast<void>(simulated::read_machine(file));
#endif
}

}  // namespace longshore
