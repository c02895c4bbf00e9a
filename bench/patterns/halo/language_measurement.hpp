// Pattern halo in C and in Fortran.
#pragma once

#include "harness/pattern.hpp"

#include <memory>
#include <optional>
#include <string>

namespace longshore::bench {

/// Why a variant cannot be measured in its language, or nothing. A variant that names no language
/// is in C++.
[[nodiscard]] std::optional<std::string> why_not_in_its_language(const variant& what);

/// Collective. REQUIRES: a variant in c or fortran that can run.
[[nodiscard]] std::unique_ptr<measurement> measure_in_its_language(team& team, const variant& what,
                                                                   const launch_facts& facts);

}  // namespace longshore::bench
