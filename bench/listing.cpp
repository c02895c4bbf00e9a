#include "listing.hpp"

#include <longshore/transport/launch/run.hpp>

#include "help.hpp"
#include "levels.hpp"
#include "program_facts.hpp"
#include "variants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace longshore::bench {
namespace {

constexpr long sample_count = 1000;  // a level for integer factors that have no default

// Launches on which a level could be possible: it is enough that one of them can do it.
std::vector<launch_facts> sample_launches(const std::string& transport) {
  return {{.transport = transport, .ranks = 8, .nodes = 1, .largest_node = 8},
          {.transport = transport, .ranks = 8, .nodes = 2, .largest_node = 4}};
}

// All levels of words, the defaults of numbers; what has no default both with and without a level.
std::vector<variant> sample_variants(const pattern& what) {
  std::vector<factor_levels> factors, optional;
  for (const auto& factor : what.factors) {
    if (factor.type == factor::kind::word)
      factors.push_back({factor.name, std::vector<json>(factor.allowed.begin(), factor.allowed.end())});
    else if (!factor.defaults.empty())
      factors.push_back({factor.name, {default_levels(factor).front()}});
    else if (factor.type == factor::kind::integer)
      optional.push_back(
          {factor.name, {std::clamp(sample_count, std::max(factor.low, 1L), factor.high == 0 ? largest_count : factor.high)}});
  }
  auto all = cross_product(factors);
  for (const auto& factor : optional) {
    const std::size_t without = all.size();
    for (std::size_t i = 0; i < without; ++i)
      for (auto& one : cross_product(std::vector<factor_levels>{factor})) {
        all.push_back(all[i]);
        all.back().update(one);
      }
  }
  return all;
}

struct ability {
  std::set<std::string> transports;
  std::string why_not;  // of the last combination that was refused
};

// By factor and level: the transports of this build on which some combination with it can run.
std::map<std::pair<std::string, std::string>, ability> abilities(const pattern& what) {
  std::map<std::pair<std::string, std::string>, ability> found;
  const auto candidates = sample_variants(what);
  for (const auto& transport : available_transports())
    for (const auto& launch : sample_launches(transport))
      for (const auto& candidate : candidates) {
        const auto why = what.why_not ? what.why_not(candidate, launch) : std::nullopt;
        for (const auto& [name, level] : candidate.items()) {
          if (!level.is_string()) continue;
          auto& of_level = found[{name, level.get<std::string>()}];
          if (why)
            of_level.why_not = *why;
          else
            of_level.transports.insert(transport);
        }
      }
  return found;
}

json word_levels(const factor& what, const std::map<std::pair<std::string, std::string>, ability>& able) {
  json levels = json::array();
  for (const auto& level : what.allowed) {
    json entry{{"level", level}};
    const auto known = able.find({variant_name(what), level});
    const bool can = known != able.end() && !known->second.transports.empty();
    entry["available"] = can;
    if (can)
      entry["transports"] = known->second.transports;
    else if (known != able.end())
      entry["why_not"] = known->second.why_not;
    levels.push_back(std::move(entry));
  }
  return levels;
}

json listed(const pattern& what) {
  const auto able = abilities(what);
  json factors = json::array();
  for (const auto& factor : what.factors) {
    json entry{{"name", variant_name(factor)}, {"option", "--" + factor.name}, {"help", factor.help}};
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
  return {{"name", what.name}, {"help", what.help}, {"factors", std::move(factors)}, {"examples", what.examples}};
}

}  // namespace

json listing(std::span<const pattern> patterns) {
  json transports = json::array();
  const auto available = available_transports();
  for (const auto& name : known_transports())
    transports.push_back({{"name", name}, {"available", std::find(available.begin(), available.end(), name) != available.end()}});
  json all{{"schema", 1}, {"program", program_facts()}, {"transports", std::move(transports)}, {"patterns", json::array()}};
  for (const auto& what : patterns) all["patterns"].push_back(listed(what));
  return all;
}

}  // namespace longshore::bench
