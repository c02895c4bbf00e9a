// Shared by the tests of ghost exchanges: graphs that every rank knows as a whole, fields of several
// types, and the serial oracle.
#pragma once

#include <longshore/core/random.hpp>
#include <longshore/ghost/ghost_exchange.hpp>
#include <longshore/transport/shared_allocator.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace longshore::testing {

// Calls `make` on all ranks, which must all throw an error with the code and with all words.
template <class Make>
void expect_error(team& team, errc code, const std::vector<std::string>& words, const Make& make) {
  try {
    make();
    ADD_FAILURE() << "no error on rank " << team.rank();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    for (const auto& word : words)
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what() << ": " << word;
  }
}

// The owned elements and the ghosts of all ranks.
struct ghost_case {
  std::string name;
  std::vector<std::size_t> owned;             // indexed by rank
  std::vector<std::vector<location>> ghosts;  // indexed by rank

  [[nodiscard]] std::size_t ghost_count() const {
    std::size_t count = 0;
    for (const auto& list : ghosts) count += list.size();
    return count;
  }
};

using shared_bytes = shared_allocator<std::byte>;

inline constexpr auto add = [](auto& a, const auto& b) {
  a = static_cast<std::decay_t<decltype(a)>>(a + b);
};

inline std::span<const location> ghosts_of(const ghost_case& c, int rank) {
  return c.ghosts[static_cast<std::size_t>(rank)];
}
inline ghost_graph graph_of(team& ranks, const ghost_case& c) {
  return {ranks, c.owned[static_cast<std::size_t>(ranks.rank())], ghosts_of(c, ranks.rank())};
}

inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b;
  for (const auto y : {c, d}) x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u + y;
  return (x ^ (x >> 32)) * 0x94d049bb133111ebu ^ (x >> 31);
}

// Every ghost is a random element of the ranks in [first, end) that own something.
inline ghost_case random_case(std::string name, std::vector<std::size_t> owned,
                              const std::vector<std::size_t>& ghosts, unsigned seed,
                              const std::function<int(int rank, std::mt19937&)>& owner_of) {
  ghost_case made{std::move(name), std::move(owned), {}};
  std::mt19937 random(seed);
  for (std::size_t r = 0; r < ghosts.size(); ++r) {
    auto& list = made.ghosts.emplace_back();
    for (std::size_t i = 0; i < ghosts[r]; ++i) {
      const int owner = owner_of(static_cast<int>(r), random);
      const auto owned_there = made.owned[static_cast<std::size_t>(owner)];
      if (owned_there > 0) list.push_back({owner, random() % owned_there});
    }
  }
  return made;
}

inline std::vector<ghost_case> ghost_cases(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  const auto any = [ranks](int, std::mt19937& random) {
    return static_cast<int>(random() % static_cast<unsigned>(ranks));
  };
  const auto own = [](int rank, std::mt19937&) { return rank; };
  const auto first = [](int, std::mt19937&) { return 0; };
  std::vector<std::size_t> uneven, some, half_empty;
  for (std::size_t r = 0; r < n; ++r) {
    uneven.push_back(5 + 7 * (r % 3));
    some.push_back(40 + 13 * (r % 4));
    half_empty.push_back(r % 2 == 0 ? 9 : 0);
  }
  std::vector<ghost_case> cases = {
      random_case("random", uneven, some, 1, any),  // with duplicates and own elements
      random_case("self only", uneven, some, 2, own),
      random_case("all to one", uneven, some, 3, first),
      random_case("empty ranks", half_empty, some, 4, any),
      random_case("some without ghosts", uneven, half_empty, 5, any),
      random_case("empty", uneven, std::vector<std::size_t>(n), 6, any),
      random_case("nothing", std::vector<std::size_t>(n), std::vector<std::size_t>(n), 7, any),
  };
  // A band: the last elements of the rank before and the first of the rank after, in order, so that
  // messages are contiguous.
  ghost_case band{"band", std::vector<std::size_t>(n, 50), std::vector<std::vector<location>>(n)};
  for (int r = 0; r < ranks; ++r)
    for (const int side : {-1, 1}) {
      const int owner = r + side;
      if (owner < 0 || owner >= ranks) continue;
      for (std::uint64_t i = 0; i < 20; ++i)
        band.ghosts[static_cast<std::size_t>(r)].push_back({owner, side < 0 ? 30 + i : i});
    }
  cases.push_back(band);
  // The same element twice, and runs with gaps.
  ghost_case twice{"duplicates", std::vector<std::size_t>(n, 64),
                   std::vector<std::vector<location>>(n)};
  for (int r = 0; r < ranks; ++r)
    for (int k = 0; k < 3; ++k)
      for (std::uint64_t i = 0; i < 30; ++i)
        twice.ghosts[static_cast<std::size_t>(r)].push_back({(r + 1 + k / 2) % ranks, i + i / 10});
  cases.push_back(twice);
  return cases;
}

inline std::vector<ghost_strategy> possible_strategies(const team& ranks) {
  std::vector<ghost_strategy> possible;
  for (const auto strategy : values_of<ghost_strategy>())
    if (strategy != ghost_strategy::automatic && !why_not(strategy, ranks))
      possible.push_back(strategy);
  return possible;
}

struct vec3 {
  double x, y, z;
  friend bool operator==(const vec3&, const vec3&) = default;
};

// Values whose sum depends on the order of the summands.
template <class T>
T ghost_value(std::uint64_t tag, std::uint64_t is_ghost, std::uint64_t rank, std::uint64_t number) {
  const std::uint64_t x = mixed(tag, is_ghost, rank, number);
  if constexpr (std::same_as<T, vec3>)
    return {static_cast<double>(x % 1000), static_cast<double>(x >> 40), 1e-3};
  else if constexpr (std::floating_point<T>)
    return static_cast<T>(std::ldexp(static_cast<double>(x % 1000003), static_cast<int>(x % 61)));
  else
    return static_cast<T>(x);
}

// A field of a rank: an array with strides, and bytes around the elements that must not change.
template <class T, class Allocator = std::allocator<std::byte>>
class test_field {
 public:
  test_field(std::size_t owned, std::size_t ghosts, std::size_t stride_bytes = sizeof(T))
      : owned_(owned),
        ghosts_(ghosts),
        stride_(stride_bytes),
        bytes_(64 + (owned + ghosts + 1) * stride_bytes, std::byte{0xa5}) {}
  [[nodiscard]] T& at(std::size_t i) { return *reinterpret_cast<T*>(bytes_.data() + i * stride_); }
  [[nodiscard]] T& owned(std::size_t i) { return at(i); }
  [[nodiscard]] T& ghost(std::size_t i) { return at(owned_ + i); }
  [[nodiscard]] ghost_field<T> view() {
    return {&at(0), &at(owned_), static_cast<std::ptrdiff_t>(stride_)};
  }
  void fill(std::uint64_t tag, std::uint64_t rank) {
    for (std::size_t i = 0; i < owned_; ++i) owned(i) = ghost_value<T>(tag, 0, rank, i);
    for (std::size_t i = 0; i < ghosts_; ++i) ghost(i) = ghost_value<T>(tag, 1, rank, i);
  }
  // The number of bytes between elements that have changed.
  [[nodiscard]] std::size_t changed_gaps() const {
    std::size_t changed = 0;
    for (std::size_t b = 0; b < bytes_.size(); ++b) {
      const bool is_element = b / stride_ < owned_ + ghosts_ && b % stride_ < sizeof(T);
      changed += !is_element && bytes_[b] != std::byte{0xa5} ? 1 : 0;
    }
    return changed;
  }

 private:
  std::size_t owned_, ghosts_, stride_;
  std::vector<std::byte, Allocator> bytes_;
};

// After an update of fields that were filled with `tag`: the number of wrong elements and ghosts.
template <class Field, class T>
std::size_t wrong_after_update(Field& field, const ghost_case& c, int rank, std::uint64_t tag,
                               T /*type*/) {
  std::size_t wrong = field.changed_gaps();
  const auto& ghosts = c.ghosts[static_cast<std::size_t>(rank)];
  for (std::size_t i = 0; i < ghosts.size(); ++i) {
    const auto owner = static_cast<std::uint64_t>(ghosts[i].rank);
    wrong += field.ghost(i) == ghost_value<T>(tag, 0, owner, ghosts[i].offset) ? 0 : 1;
  }
  for (std::size_t i = 0; i < c.owned[static_cast<std::size_t>(rank)]; ++i)
    wrong += field.owned(i) == ghost_value<T>(tag, 0, static_cast<std::uint64_t>(rank), i) ? 0 : 1;
  return wrong;
}

// The elements of a rank after an accumulate: a serial loop over all ghosts of all ranks.
template <class T, class Combine>
std::vector<T> accumulated(const ghost_case& c, int rank, std::uint64_t tag,
                           const Combine& combine) {
  std::vector<T> elements;
  for (std::size_t i = 0; i < c.owned[static_cast<std::size_t>(rank)]; ++i)
    elements.push_back(ghost_value<T>(tag, 0, static_cast<std::uint64_t>(rank), i));
  for (std::size_t r = 0; r < c.ghosts.size(); ++r)
    for (std::size_t i = 0; i < c.ghosts[r].size(); ++i)
      if (c.ghosts[r][i].rank == rank)
        combine(elements[c.ghosts[r][i].offset], ghost_value<T>(tag, 1, r, i));
  return elements;
}

template <class Field, class T, class Combine>
std::size_t wrong_after_accumulate(Field& field, const ghost_case& c, int rank, std::uint64_t tag,
                                   T /*type*/, const Combine& combine) {
  std::size_t wrong = field.changed_gaps();
  const auto expected = accumulated<T>(c, rank, tag, combine);
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += field.owned(i) == expected[i] ? 0 : 1;
  for (std::size_t i = 0; i < c.ghosts[static_cast<std::size_t>(rank)].size(); ++i)
    wrong += field.ghost(i) == ghost_value<T>(tag, 1, static_cast<std::uint64_t>(rank), i) ? 0 : 1;
  return wrong;
}

}  // namespace longshore::testing
