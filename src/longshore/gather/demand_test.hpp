// What the ranks ask for in the tests of gather, scatter and updates, and values whose every byte
// tells a mistake. All of it can be made again on any rank: that is what makes a serial oracle
// possible.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/detail/engine_choice.hpp>
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

/// One rank of so many, for a table of n elements (n > 0).
struct asker {
  int rank, ranks;
  std::uint64_t n;
};

inline std::vector<std::int64_t> random_indices(const asker& who, std::size_t count,
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

struct demand {
  const char* name;
  std::function<std::vector<std::int64_t>(const asker&)> indices;
};

inline const std::vector<demand>& demands() {
  static const std::vector<demand> all = {
      {"nothing", [](const asker&) { return std::vector<std::int64_t>{}; }},
      {"one rank only",
       [](const asker& a) { return random_indices(a, a.rank == a.ranks - 1 ? 301 : 0); }},
      {"all want the last element",
       [](const asker& a) {
         return std::vector<std::int64_t>(99, static_cast<std::int64_t>(a.n - 1));
       }},
      {"random",
       [](const asker& a) {
         return random_indices(a, 300 + 13 * static_cast<std::size_t>(a.rank));
       }},
      {"skewed", [](const asker& a) { return random_indices(a, 200, 4); }},
      {"in order", [](const asker& a) {
         std::vector<std::int64_t> all_of_them(a.n);
         for (std::uint64_t i = 0; i < a.n; ++i) all_of_them[i] = static_cast<std::int64_t>(i);
         return all_of_them;
       }}};
  return all;
}

/// A value with all bytes random but the same for the same arguments.
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

/// The strategies that are not refused with `why_not(strategy, all_reachable)`. Collective.
template <class WhyNot>
std::vector<gather_strategy> usable_strategies(team& team, bool all_direct, const WhyNot& why_not) {
  const bool reachable = team.allreduce_value<std::int64_t>(all_direct, reduction::min) == 1;
  std::vector<gather_strategy> strategies;
  for (const auto& known : gather_strategies)
    if (!why_not(known.strategy, reachable)) strategies.push_back(known.strategy);
  return strategies;
}

/// Gives every element of the table the value value_of(index). Collective.
template <class Table, class Value>
void fill_table(Table& table, const Value& value_of) {
  const auto part = table.local();
  for (std::size_t k = 0; k < part.size(); ++k)
    part[k] = value_of(table.map().index_of(table.team().rank(), k));
  table.team().barrier();
}

/// Calls body(options) with every strategy that is usable, and for those that have buffers with
/// small and large ones, with and without combining. Options: that of scatter or of update.
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
        // small buffers end more often
        if (combine && asynchronous && buffer_items == 1024) continue;
        Options options;
        options.strategy = strategy;
        options.buffer_items = buffer_items;
        options.combine = combine;
        body(options, fmt::format("{}, buffers of {}{}", name_of(strategy), buffer_items,
                                  combine ? ", combined" : ""));
      }
}

/// Which error each rank gets from call(mine), where the last rank, whose `mine` is true, makes a
/// mistake; and that its message has the words. `told`: the others know of it.
template <class Call>
void expect_failure(team& team, bool told, const std::vector<std::string>& words,
                    const Call& call) {
  const bool mine = team.rank() == team.size() - 1;
  try {
    call(mine);
    EXPECT_FALSE(mine || told);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), mine ? errc::usage : errc::peer_failed) << e.what();
    for (const auto& word : words)
      EXPECT_TRUE(!mine || std::string(e.what()).find(word) != std::string::npos)
          << e.what() << "; lacks " << word;
  }
  team.barrier();
}

}  // namespace longshore::testing
