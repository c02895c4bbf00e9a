// Makes the JSON of --list. To find the levels that this build can run, it asks the patterns about
// sample variants in sample launches. It measures nothing.
#include "commands/commands.hpp"

#include <longshore/transport/launch/run.hpp>

#include "commands/help.hpp"
#include "commands/parse_levels.hpp"
#include "facts/binding.hpp"
#include "facts/program.hpp"
#include "harness/variants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace longshore::bench {
namespace {

constexpr long sample_integer = 1000;  // level of an integer factor without default

// A level is available if it can run in one of these launches.
std::vector<launch_facts> sample_launches(const std::string& transport) {
  return {{.transport = transport, .ranks = 8, .nodes = 1, .largest_node = 8},
          {.transport = transport, .ranks = 8, .nodes = 2, .largest_node = 4}};
}

// The levels of a factor to try: all levels of a word, and the default or sample_integer of a
// number.
std::vector<json> sample_levels(const factor& factor) {
  if (factor.always_available) return {};
  if (factor.type == factor::kind::word) return {factor.allowed.begin(), factor.allowed.end()};
  if (!factor.defaults.empty()) return {default_levels(factor).front()};
  if (factor.type == factor::kind::triple || factor.type == factor::kind::text) return {};
  return {std::clamp(sample_integer, std::max(factor.low, 1L), factor.high)};
}

// The default variant and all variants that differ from the default in one or two factors, because
// a level may need a level of another factor. The whole cross product would have tens of thousands
// of variants. A factor without default is absent by default.
std::vector<variant> sample_variants(const pattern& pattern) {
  constexpr int max_changes = 2;
  std::vector<std::pair<variant, int>> samples{{json::object(), 0}};  // with number of changes
  for (const auto& factor : pattern.factors) {
    std::vector<std::pair<variant, int>> longer;
    const json usual = factor.defaults.empty() ? json(nullptr) : default_levels(factor).front();
    for (const auto& [shorter, changes] : samples) {
      longer.emplace_back(shorter, changes);
      if (!usual.is_null()) longer.back().first[variant_name(factor.name)] = usual;
      for (const auto& level : sample_levels(factor))
        if (level != usual && changes < max_changes) {
          longer.emplace_back(shorter, changes + 1);
          longer.back().first[variant_name(factor.name)] = level;
        }
    }
    samples = std::move(longer);
  }
  std::vector<variant> variants;
  for (auto& [sample, changes] : samples) variants.push_back(std::move(sample));
  return variants;
}

// The transports on which some variant with a level runs, and why other variants do not run.
struct ability {
  std::set<std::string> transports;
  std::map<std::string, int> refusals;  // number of refusals, by reason

  // The reason that names this level and its factor, else one that names the level, else the most
  // frequent reason. Other reasons may come from other factors of a variant.
  [[nodiscard]] std::string why_not(const std::string& factor, const std::string& level) const {
    const auto rating = [&](const std::pair<const std::string, int>& reason) {
      const bool level_named = reason.first.find(level) != std::string::npos,
                 factor_named = reason.first.find(factor) != std::string::npos;
      return std::tuple(level_named && factor_named, level_named, reason.second);
    };
    const auto best =
        std::max_element(refusals.begin(), refusals.end(),
                         [&](const auto& a, const auto& b) { return rating(a) < rating(b); });
    return best == refusals.end() ? "" : best->first;
  }
};

using factor_and_level = std::pair<std::string, std::string>;

// Tries every sample variant on every transport of this build. A level can run on a transport if at
// least one of the variants with this level is not refused.
std::map<factor_and_level, ability> abilities(const pattern& pattern) {
  std::map<factor_and_level, ability> able;
  const auto candidates = sample_variants(pattern);
  for (const auto& transport : available_transports())
    for (const auto& launch : sample_launches(transport))
      for (const auto& candidate : candidates) {
        variant settled = candidate;
        if (pattern.settle) pattern.settle(settled);
        const auto why = pattern.why_not ? pattern.why_not(settled, launch) : std::nullopt;
        for (const auto& [name, level] : candidate.items()) {
          if (!level.is_string()) continue;
          auto& of_level = able[{name, level.get<std::string>()}];
          if (why)
            ++of_level.refusals[*why];
          else
            of_level.transports.insert(transport);
        }
      }
  return able;
}

json word_levels(const factor& factor, const std::map<factor_and_level, ability>& able) {
  json levels = json::array();
  for (const auto& level : factor.allowed) {
    if (factor.always_available) {
      levels.push_back(
          {{"level", level}, {"available", true}, {"transports", available_transports()}});
      continue;
    }
    json entry{{"level", level}};
    const auto known = able.find({variant_name(factor.name), level});
    const bool available = known != able.end() && !known->second.transports.empty();
    entry["available"] = available;
    if (available)
      entry["transports"] = known->second.transports;
    else if (known != able.end())
      entry["why_not"] = known->second.why_not(factor.name, level);
    levels.push_back(std::move(entry));
  }
  return levels;
}

json listed(const pattern& pattern) {
  const auto able = abilities(pattern);
  json factors = json::array();
  for (const auto& factor : pattern.factors) {
    json entry{
        {"name", variant_name(factor.name)}, {"option", "--" + factor.name}, {"help", factor.help}};
    if (factor.type == factor::kind::word) {
      entry["type"] = "word";
      entry["levels"] = word_levels(factor, able);
    } else if (factor.type == factor::kind::text) {
      entry["type"] = "text";
    } else {
      entry["type"] = factor.type == factor::kind::integer ? "integer" : "triple";
      entry["low"] = factor.low;
      entry["high"] = factor.high;
    }
    entry["default"] = default_levels(factor);
    factors.push_back(std::move(entry));
  }
  return {{"name", pattern.name},
          {"help", pattern.help},
          {"factors", std::move(factors)},
          {"examples", pattern.examples}};
}

}  // namespace

json listing(std::span<const pattern> patterns) {
  json transports = json::array();
  const auto available = available_transports();
  for (const auto& name : known_transports())
    transports.push_back(
        {{"name", name},
         {"available", std::find(available.begin(), available.end(), name) != available.end()}});
  json list{{"schema", 1},
            {"program", program_facts()},
            {"transports", std::move(transports)},
            {"topology", topology_listing()},
            {"binding", binding_listing()},
            {"patterns", json::array()}};
  for (const auto& pattern : patterns) list["patterns"].push_back(listed(pattern));
  return list;
}

}  // namespace longshore::bench
