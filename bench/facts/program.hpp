// What this program is: version, commit, compiler, flags. Known when it is built.
#pragma once

#include "facts/json.hpp"

#include <string>

namespace longshore::bench {

/// The "program" of a launch record.
[[nodiscard]] json program_facts();
/// One line: name, version, commit, compiler.
[[nodiscard]] std::string version_text();

}  // namespace longshore::bench
