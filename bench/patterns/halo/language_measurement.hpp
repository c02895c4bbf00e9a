// The measurements of pattern halo in C and in Fortran.
#pragma once

#include "harness/pattern.hpp"

#include <memory>
#include <optional>
#include <string>

namespace longshore::bench {

/// Why a variant cannot be measured in its language, or nothing. The default language is C++.
[[nodiscard]] std::optional<std::string> why_not_in_its_language(const variant& levels);

/// Collective. REQUIRES: a variant in C or Fortran that can run.
[[nodiscard]] std::unique_ptr<measurement> measure_in_its_language(team& team,
                                                                   const variant& levels,
                                                                   const launch_facts& facts);

}  // namespace longshore::bench
