// Index patterns for the tests of gather, scatter and updates, and values in which every wrong byte
// shows. Every rank can compute those of all ranks, so a serial reference is possible.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace longshore::testing {

/// Rank `rank` of `ranks`, which accesses a table of n elements (n > 0).
struct requesting_rank {
  int rank, ranks;
  std::uint64_t n;
};

inline std::vector<std::int64_t> random_indices(const requesting_rank& who, std::size_t count,
                                                double skew = 1) {
  random_stream random(7, static_cast<std::uint64_t>(who.rank));
  std::vector<std::int64_t> indices(count);
  for (auto& index : indices) {
    double u = random.uniform();
    for (double left = skew; left > 1; --left) u *= u;
    index = static_cast<std::int64_t>(u * static_cast<double>(who.n));
  }
  return indices;
}

struct index_pattern {
  const char* name;
  std::function<std::vector<std::int64_t>(const requesting_rank&)> indices;
};

inline const std::vector<index_pattern>& index_patterns() {
  static const std::vector<index_pattern> all = {
      {"nothing", [](const requesting_rank&) { return std::vector<std::int64_t>{}; }},
      {"one rank only",
       [](const requesting_rank& a) { return random_indices(a, a.rank == a.ranks - 1 ? 301 : 0); }},
      {"all want the last element",
       [](const requesting_rank& a) {
         return std::vector<std::int64_t>(99, static_cast<std::int64_t>(a.n - 1));
       }},
      {"random",
       [](const requesting_rank& a) {
         return random_indices(a, 300 + 13 * static_cast<std::size_t>(a.rank));
       }},
      {"skewed", [](const requesting_rank& a) { return random_indices(a, 200, 4); }},
      {"in order", [](const requesting_rank& a) {
         std::vector<std::int64_t> all_of_them(a.n);
         for (std::uint64_t i = 0; i < a.n; ++i) all_of_them[i] = static_cast<std::int64_t>(i);
         return all_of_them;
       }}};
  return all;
}

/// A value of random bytes, which depend only on the arguments.
template <class T>
T mixed_value(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  alignas(T) std::byte bytes[sizeof(T)];
  random_stream random(mix_bits(mix_bits(mix_bits(a) ^ b) ^ c));
  for (std::size_t done = 0; done < sizeof(T); done += 8) {
    const std::uint64_t word = random();
    std::memcpy(bytes + done, &word, std::min<std::size_t>(8, sizeof(T) - done));
  }
  T value;
  std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
  return value;
}

/// The strategies for which why_not(strategy, all_reachable) has no objection. Collective.
template <class WhyNot>
std::vector<gather_strategy> usable_strategies(team& team, bool all_direct, const WhyNot& why_not) {
  const bool reachable = team.allreduce_value<std::int64_t>(all_direct, reduction::min) == 1;
  std::vector<gather_strategy> strategies;
  for (const auto& known : gather_strategies)
    if (!why_not(known.strategy, reachable)) strategies.push_back(known.strategy);
  return strategies;
}

/// Sets every element of the table to value_of(index). Collective.
template <class Table, class Value>
void fill_table(Table& table, const Value& value_of) {
  const auto part = table.local();
  for (std::size_t k = 0; k < part.size(); ++k)
    part[k] = value_of(table.map().index_of(table.team().rank(), k));
  table.team().barrier();
}

/// Calls body(options, name) for every usable strategy; for those with buffers, with small and
/// large buffers, with and without combining. Options: scatter_options or update_options.
/// Collective.
template <class Options, class WhyNot, class Body>
void with_every_plan(team& team, bool all_direct, std::uint64_t n, const WhyNot& why_not,
                     const Body& body) {
  for (const auto strategy : usable_strategies(team, all_direct, why_not))
    for (const std::size_t buffer_items : {n == 5 ? 1 : 20, 1024})
      for (const bool combine : {false, true}) {
        const bool asynchronous = detail::is_asynchronous(strategy);
        if ((buffer_items != 1024 || combine) && strategy != gather_strategy::exstack &&
            !asynchronous)
          continue;
        // small buffers cover more cases
        if (combine && asynchronous && buffer_items == 1024) continue;
        Options options;
        options.strategy = strategy;
        options.buffer_items = buffer_items;
        options.combine = combine;
        body(options, fmt::format("{}, buffers of {}{}", name_of(strategy), buffer_items,
                                  combine ? ", combined" : ""));
      }
}

/// Checks the errors of call(mine), in which the last rank makes a mistake; its `mine` is true. Its
/// message must contain `words`. `others_fail`: whether the other ranks get an error, too.
template <class Call>
void expect_failure(team& team, bool others_fail, const std::vector<std::string>& words,
                    const Call& call) {
  const bool mine = team.rank() == team.size() - 1;
  try {
    call(mine);
    EXPECT_FALSE(mine || others_fail);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), mine ? errc::usage : errc::peer_failed) << e.what();
    for (const auto& word : words)
      EXPECT_TRUE(!mine || std::string(e.what()).find(word) != std::string::npos)
          << e.what() << "; expected " << word;
  }
  team.barrier();
}

}  // namespace longshore::testing
