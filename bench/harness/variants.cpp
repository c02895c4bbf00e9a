#include "harness/variants.hpp"

#include <longshore/core/error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace longshore::bench {
namespace {

constexpr std::size_t most_variants = 100'000;

}  // namespace

std::string variant_name(const std::string& factor_name) {
  std::string name = factor_name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<variant> cross_product(std::span<const factor_levels> factors) {
  std::vector<variant> all{json::object()};
  for (const auto& factor : factors) {
    if (factor.levels.empty()) continue;
    if (all.size() * factor.levels.size() > most_variants)
      fail(errc::usage,
           "the lists make more than {} combinations, too many for a launch; --{} has {} levels",
           most_variants, factor.name, factor.levels.size());
    const std::string name = variant_name(factor.name);
    std::vector<variant> longer;
    longer.reserve(all.size() * factor.levels.size());
    for (const auto& shorter : all)
      for (const auto& level : factor.levels) {
        longer.push_back(shorter);
        longer.back()[name] = level;
      }
    all = std::move(longer);
  }
  return all;
}

std::vector<variant> settled_variants(const pattern& what, std::span<const factor_levels> factors) {
  std::vector<variant> all;
  std::set<std::string> seen;
  for (auto& candidate : cross_product(factors)) {
    if (what.settle) {
      what.settle(candidate);
      if (!seen.insert(candidate.dump()).second) continue;
    }
    all.push_back(std::move(candidate));
  }
  return all;
}

std::size_t symmetric_bytes(const pattern& what, std::span<const factor_levels> factors,
                            int ranks) {
  std::size_t most = 0;
  if (!what.symmetric_bytes) return most;
  for (auto& candidate : cross_product(factors)) {
    if (what.settle) what.settle(candidate);
    most = std::max(most, what.symmetric_bytes(candidate, ranks));
  }
  return most;
}

std::string level_text(const json& level) {
  if (level.is_string()) return level.get<std::string>();
  if (!level.is_array()) return level.dump();
  std::string text;
  for (const auto& number : level)
    text += fmt::format("{}{}", text.empty() ? "" : ",", number.dump());
  return text;
}

std::string label(const variant& what) {
  std::string text;
  for (const auto& [name, level] : what.items())
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, level_text(level));
  return text;
}

}  // namespace longshore::bench
