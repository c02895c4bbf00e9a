// Version, commit, compiler and flags of this program.
#pragma once

#include "facts/json.hpp"

#include <string>

namespace longshore::bench {

/// The "program" of a launch record.
[[nodiscard]] json program_facts();
/// Name, version, commit, compiler and build type in one line.
[[nodiscard]] std::string version_text();

}  // namespace longshore::bench
