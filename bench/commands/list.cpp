#include "commands/list.hpp"

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

constexpr long sample_count = 1000;  // a level for integer factors without default

// Sample launches: a level is available if it can run on one of them.
std::vector<launch_facts> sample_launches(const std::string& transport) {
  return {{.transport = transport, .ranks = 8, .nodes = 1, .largest_node = 8},
          {.transport = transport, .ranks = 8, .nodes = 2, .largest_node = 4}};
}

// Sample levels of a factor: all words, the default of a number, or one level of a number without
// default.
std::vector<json> sample_levels(const factor& what) {
  if (what.always_available) return {};
  if (what.type == factor::kind::word) return {what.allowed.begin(), what.allowed.end()};
  if (!what.defaults.empty()) return {default_levels(what).front()};
  if (what.type == factor::kind::triple) return {};
  return {
      std::clamp(sample_count, std::max(what.low, 1L), what.high == 0 ? largest_count : what.high)};
}

// The default variant, and all that differ from it in one or two factors. A level may need a level
// of another factor, which a second change provides; the whole cross product would have ten
// thousands of variants. A factor without default is absent by default.
std::vector<variant> sample_variants(const pattern& what) {
  constexpr int most_changes = 2;
  std::vector<std::pair<variant, int>> all{{json::object(), 0}};
  for (const auto& factor : what.factors) {
    std::vector<std::pair<variant, int>> longer;
    const json usual = factor.defaults.empty() ? json(nullptr) : default_levels(factor).front();
    for (const auto& [shorter, changes] : all) {
      longer.emplace_back(shorter, changes);
      if (!usual.is_null()) longer.back().first[variant_name(factor.name)] = usual;
      for (const auto& level : sample_levels(factor))
        if (level != usual && changes < most_changes) {
          longer.emplace_back(shorter, changes + 1);
          longer.back().first[variant_name(factor.name)] = level;
        }
    }
    all = std::move(longer);
  }
  std::vector<variant> variants;
  for (auto& [sample, changes] : all) variants.push_back(std::move(sample));
  return variants;
}

struct ability {
  std::set<std::string> transports;
  std::map<std::string, int> refusals;  // number of refusals, by reason

  // The reason that names this level, else the most frequent one: other factors of a combination
  // may be the cause of a refusal.
  [[nodiscard]] std::string why_not(const std::string& factor, const std::string& level) const {
    const auto points = [&](const std::pair<const std::string, int>& reason) {
      const bool level_named = reason.first.find(level) != std::string::npos,
                 factor_named = reason.first.find(factor) != std::string::npos;
      return std::tuple(level_named && factor_named, level_named, reason.second);
    };
    const auto best =
        std::max_element(refusals.begin(), refusals.end(),
                         [&](const auto& a, const auto& b) { return points(a) < points(b); });
    return best == refusals.end() ? "" : best->first;
  }
};

// By factor and level: the transports of this build on which some variant with it can run.
std::map<std::pair<std::string, std::string>, ability> abilities(const pattern& what) {
  std::map<std::pair<std::string, std::string>, ability> found;
  const auto candidates = sample_variants(what);
  for (const auto& transport : available_transports())
    for (const auto& launch : sample_launches(transport))
      for (const auto& candidate : candidates) {
        variant settled = candidate;
        if (what.settle) what.settle(settled);
        const auto why = what.why_not ? what.why_not(settled, launch) : std::nullopt;
        for (const auto& [name, level] : candidate.items()) {
          if (!level.is_string()) continue;
          auto& of_level = found[{name, level.get<std::string>()}];
          if (why)
            ++of_level.refusals[*why];
          else
            of_level.transports.insert(transport);
        }
      }
  return found;
}

json word_levels(const factor& what,
                 const std::map<std::pair<std::string, std::string>, ability>& able) {
  json levels = json::array();
  for (const auto& level : what.allowed) {
    json entry{{"level", level}};
    const auto known = able.find({variant_name(what.name), level});
    if (what.always_available) {
      levels.push_back(
          {{"level", level}, {"available", true}, {"transports", available_transports()}});
      continue;
    }
    const bool can = known != able.end() && !known->second.transports.empty();
    entry["available"] = can;
    if (can)
      entry["transports"] = known->second.transports;
    else if (known != able.end())
      entry["why_not"] = known->second.why_not(what.name, level);
    levels.push_back(std::move(entry));
  }
  return levels;
}

json listed(const pattern& what) {
  const auto able = abilities(what);
  json factors = json::array();
  for (const auto& factor : what.factors) {
    json entry{
        {"name", variant_name(factor.name)}, {"option", "--" + factor.name}, {"help", factor.help}};
    if (factor.type == factor::kind::word) {
      entry["type"] = "word";
      entry["levels"] = word_levels(factor, able);
    } else {
      entry["type"] = factor.type == factor::kind::integer ? "integer" : "triple";
      const bool open = factor.low == 0 && factor.high == 0;
      entry["low"] = open ? 1 : factor.low;
      entry["high"] = open ? largest_count : factor.high;
    }
    entry["default"] = default_levels(factor);
    factors.push_back(std::move(entry));
  }
  return {{"name", what.name},
          {"help", what.help},
          {"factors", std::move(factors)},
          {"examples", what.examples}};
}

}  // namespace

json listing(std::span<const pattern> patterns) {
  json transports = json::array();
  const auto available = available_transports();
  for (const auto& name : known_transports())
    transports.push_back(
        {{"name", name},
         {"available", std::find(available.begin(), available.end(), name) != available.end()}});
  json all{{"schema", 1},
           {"program", program_facts()},
           {"transports", std::move(transports)},
           {"topology", topology_listing()},
           {"binding", binding_listing()},
           {"patterns", json::array()}};
  for (const auto& what : patterns) all["patterns"].push_back(listed(what));
  return all;
}

}  // namespace longshore::bench
