// Version, commit, compiler and flags of this program, as known when it was built.
#pragma once

#include "facts/json.hpp"

#include <string>

namespace longshore::bench {

/// The "program" of a launch record.
[[nodiscard]] json program_facts();
/// One line: name, version, commit, compiler.
[[nodiscard]] std::string version_text();

}  // namespace longshore::bench
