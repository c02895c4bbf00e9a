// Makes the variants of a launch from lists of levels, and the texts that name a level or a variant
// in the table and in messages.
#include "harness/variants.hpp"

#include <longshore/core/error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace longshore::bench {
namespace {

constexpr std::size_t max_variants = 100'000;

}  // namespace

std::string variant_name(const std::string& factor_name) {
  std::string name = factor_name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<variant> cross_product(std::span<const factor_levels> factors) {
  std::vector<variant> variants{json::object()};
  for (const auto& factor : factors) {
    if (factor.levels.empty()) continue;
    if (variants.size() * factor.levels.size() > max_variants)
      fail(errc::usage,
           "the lists make more than {} combinations, too many for a launch; --{} has {} levels",
           max_variants, factor.name, factor.levels.size());
    const std::string name = variant_name(factor.name);
    std::vector<variant> longer;
    longer.reserve(variants.size() * factor.levels.size());
    for (const auto& shorter : variants)
      for (const auto& level : factor.levels) {
        longer.push_back(shorter);
        longer.back()[name] = level;
      }
    variants = std::move(longer);
  }
  return variants;
}

std::vector<variant> settled_variants(const pattern& measured,
                                      std::span<const factor_levels> factors) {
  std::vector<variant> variants;
  std::set<std::string> seen;
  for (auto& candidate : cross_product(factors)) {
    if (measured.settle) {
      measured.settle(candidate);
      if (!seen.insert(candidate.dump()).second) continue;
    }
    variants.push_back(std::move(candidate));
  }
  return variants;
}

std::size_t symmetric_bytes(const pattern& measured, std::span<const factor_levels> factors,
                            int ranks) {
  std::size_t max_bytes = 0;
  if (!measured.symmetric_bytes) return max_bytes;
  for (auto& candidate : cross_product(factors)) {
    if (measured.settle) measured.settle(candidate);
    max_bytes = std::max(max_bytes, measured.symmetric_bytes(candidate, ranks));
  }
  return max_bytes;
}

std::string level_text(const json& level) {
  if (level.is_string()) return level.get<std::string>();
  if (!level.is_array()) return level.dump();
  std::string text;
  for (const auto& number : level)
    text += fmt::format("{}{}", text.empty() ? "" : ",", number.dump());
  return text;
}

std::string label(const variant& levels) {
  std::string text;
  for (const auto& [name, level] : levels.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, level_text(level));
  return text;
}

}  // namespace longshore::bench
