// The cross product of all lists, and what of it can be run here.
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

/// One variant per combination of levels, the last factor fastest. Throws errc::usage when they are too many to be meant.
[[nodiscard]] std::vector<variant> cross_product(std::span<const factor_levels> factors);

/// The cross product as the pattern settles it, without those that become equal by that. What of it can be run the ranks of a launch find
/// together (agreed_request.hpp).
[[nodiscard]] std::vector<variant> settled_variants(const pattern& what, std::span<const factor_levels> factors);

/// The most symmetric memory that a rank needs for any of the variants, as far as the pattern says; 0: it does not say.
[[nodiscard]] std::size_t symmetric_bytes(const pattern& what, std::span<const factor_levels> factors, int ranks);

/// A level as it was typed: "agp", "1000", "64,64,64".
[[nodiscard]] std::string level_text(const json& level);

/// "strategy=agp requests=1000", in the order of the factors.
[[nodiscard]] std::string label(const variant& what);

}  // namespace longshore::bench
