// Pattern halo measured in another language than C++: who can do what, and the measurement around it.
#pragma once

#include "harness/pattern.hpp"

#include <memory>
#include <optional>
#include <string>

namespace longshore::bench {

/// Why a variant cannot be measured in the language that it names, or nothing (also where it names none).
[[nodiscard]] std::optional<std::string> why_not_in_its_language(const variant& what);

/// Collective. REQUIRES: a variant that names c or fortran and can be run.
[[nodiscard]] std::unique_ptr<measurement> measure_in_its_language(team& team, const variant& what, const launch_facts& facts);

}  // namespace longshore::bench
