// The check of a machine file without a run.
#pragma once

#include <string>

namespace longshore {

/// Throws errc::usage with file, line and remedy if `file` is no machine file of transport
/// simulated. A build without that transport only checks that the file can be read.
void check_machine_file(const std::string& file);

}  // namespace longshore
