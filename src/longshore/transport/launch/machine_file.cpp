// Reads a machine file as transport simulated does.
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/detail/find_transport.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fstream>

namespace longshore {

void detail::check_machine_file(const std::string& file) {
  if (!std::ifstream(file)) fail(errc::usage, "{}: the machine file cannot be read", file);
  if (const auto found = detail::find_transport("simulated"); found.entry != nullptr)
    found.entry->check_machine_file(file);
}

}  // namespace longshore
