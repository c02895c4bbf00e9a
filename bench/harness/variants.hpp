// The variants of a launch: the cross product of all lists of levels.
#pragma once

#include "harness/pattern.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

struct skipped_variant {
  variant what;
  std::string why;
};

struct variants {
  std::vector<variant> to_run;
  std::vector<skipped_variant> skipped;
};

/// One variant per combination of levels, the last factor fastest. Throws errc::usage for more than
/// 100000 of them.
[[nodiscard]] std::vector<variant> cross_product(std::span<const factor_levels> factors);

/// The cross product after pattern::settle, without duplicates. The ranks of a launch find together
/// which of them can run (agreed_request.hpp).
[[nodiscard]] std::vector<variant> settled_variants(const pattern& what,
                                                    std::span<const factor_levels> factors);

/// The most symmetric memory that a rank needs for any of the variants; 0: the pattern does not
/// say.
[[nodiscard]] std::size_t symmetric_bytes(const pattern& what,
                                          std::span<const factor_levels> factors, int ranks);

/// A level as it was typed: "agp", "1000", "64,64,64".
[[nodiscard]] std::string level_text(const json& level);

/// "strategy=agp requests=1000", in the order of the factors.
[[nodiscard]] std::string label(const variant& what);

}  // namespace longshore::bench
