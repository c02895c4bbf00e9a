// Index patterns and values for the tests of gather, scatter and updates. Every rank can compute
// the indices and values of all ranks, for a serial reference.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/strategy.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
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
    for (double squares = skew; squares > 1; --squares) u *= u;
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

/// A value of random bytes, which depend only on the arguments. Every wrong byte shows.
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

/// Collective. The strategies for which why_not(strategy, all_reachable) returns nothing.
template <class WhyNot>
std::vector<gather_strategy> usable_strategies(team& team, bool all_direct, const WhyNot& why_not) {
  const bool reachable = team.allreduce_value<std::int64_t>(all_direct, reduction::min) == 1;
  std::vector<gather_strategy> strategies;
  for (const auto strategy : values_of<gather_strategy>())
    if (!why_not(strategy, reachable)) strategies.push_back(strategy);
  return strategies;
}

/// Calls visit(element, index) for every element of this rank's part.
template <class Table, class Visit>
void for_each_local_element(Table& table, const Visit& visit) {
  for (std::size_t k = 0; k < table.local().size(); ++k)
    visit(table.local()[k], table.map().index_of(table.team().rank(), k));
}

/// Collective. Sets every element of the table to value_of(index).
template <class Table, class Value>
void fill_table(Table& table, const Value& value_of) {
  for_each_local_element(table, [&](auto& element, std::uint64_t i) { element = value_of(i); });
  table.team().barrier();
}

/// Collective. Calls body(options, name) for every usable strategy. Strategies that aggregate get
/// small and large buffers, and requests with and without combining.
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
        // Small buffers cover more cases.
        if (combine && asynchronous && buffer_items == 1024) continue;
        Options options;
        options.strategy = strategy;
        options.buffer_items = buffer_items;
        options.combine = combine;
        body(options, fmt::format("{}, buffers of {}{}", name_of(strategy), buffer_items,
                                  combine ? ", combined" : ""));
      }
}

/// Checks that call(fails) throws on the last rank, the only rank for which `fails` is true. The
/// message of that rank must contain `words`. `others_fail`: whether the other ranks must throw
/// too.
template <class Call>
void expect_failure(team& team, bool others_fail, const std::vector<std::string>& words,
                    const Call& call) {
  const bool fails = team.rank() == team.size() - 1;
  try {
    call(fails);
    EXPECT_FALSE(fails || others_fail);
  } catch (const error& e) {
    EXPECT_EQ(e.code(), fails ? errc::usage : errc::peer_failed) << e.what();
    for (const auto& word : words)
      EXPECT_TRUE(!fails || std::string(e.what()).find(word) != std::string::npos)
          << e.what() << "; expected " << word;
  }
  team.barrier();
}

/// Checks the errors of run(indices) for an index outside a table of n elements on the last rank.
template <class Run>
void expect_index_errors(team& team, std::uint64_t n, bool others_fail,
                         const std::string& operation, const Run& run) {
  for (const std::int64_t outside :
       {static_cast<std::int64_t>(n), std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()})
    for (const std::size_t position : {0, 3, 777, 1234}) {
      auto indices = random_indices({team.rank(), team.size(), n}, 1235);
      expect_failure(team, others_fail,
                     {operation, std::to_string(outside), "position " + std::to_string(position),
                      "rank " + std::to_string(team.rank()), std::to_string(n)},
                     [&](bool fails) {
                       if (fails) indices[position] = outside;
                       run(indices);
                     });
    }
}

/// Checks that call() throws an error with this code.
template <class Call>
void expect_error(errc code, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
  }
}

}  // namespace longshore::testing
