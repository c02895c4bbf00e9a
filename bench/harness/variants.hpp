// The variants of a launch: the cross product of all lists of levels.
#pragma once

#include "harness/pattern.hpp"

#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

struct skipped_variant {
  variant levels;
  std::string reason;
};

struct variants {
  std::vector<variant> to_run;
  std::vector<skipped_variant> skipped;
};

/// One variant per combination of levels. The last factor varies fastest. Throws errc::usage for
/// more than 100000 variants.
[[nodiscard]] std::vector<variant> cross_product(std::span<const factor_levels> factors);

/// The cross product after pattern::settle, without duplicates.
[[nodiscard]] std::vector<variant> settled_variants(const pattern& measured,
                                                    std::span<const factor_levels> factors);

/// Largest symmetric memory that a rank needs for one of the variants. 0 if the pattern does not
/// define pattern::symmetric_bytes.
[[nodiscard]] std::size_t symmetric_bytes(const pattern& measured,
                                          std::span<const factor_levels> factors, int ranks);

/// A level as typed: "agp", "1000", "64,64,64".
[[nodiscard]] std::string level_text(const json& level);

/// "strategy=agp requests=1000", in the order of the factors.
[[nodiscard]] std::string label(const variant& levels);

}  // namespace longshore::bench
