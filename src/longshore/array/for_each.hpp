// Loops over distributed arrays by owner-computes: each rank visits its own elements of one or more
// arrays, with all of its tasks.
//
//     longshore::for_each(workers, longshore::zip(a, b, c),
//                         [q](double& x, const double& y, const double& z) { x = y + q * z; });
//
// The body gets plain references to local elements, so the loop is as fast as one over local
// arrays. All calls are local, without communication or barrier. To visit all elements of an array,
// every rank calls.
#pragma once

#include <longshore/array/dist_array.hpp>
#include <longshore/machine/tasks.hpp>

#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace longshore {

/// Arrays of one loop, made by zip(). Holds pointers to them; const arrays give const elements.
template <class... Arrays>
struct zipped {
  std::tuple<Arrays*...> arrays;
};

template <class... Arrays>
[[nodiscard]] zipped<Arrays...> zip(Arrays&... arrays) noexcept {
  static_assert(sizeof...(Arrays) > 0, "zip of no arrays");
  return {{&arrays...}};
}

namespace detail {

/// Throws errc::usage: array `position` (from 1) of a zip is not distributed like the first.
[[noreturn]] void fail_not_alike(std::size_t position, std::string_view distribution,
                                 std::uint64_t size, int ranks, std::uint64_t first_size,
                                 int first_ranks);

template <class First, class... Others>
void check_alike(const First& first, const Others&... others) {
  static_assert((std::is_same_v<typename First::map_type, typename Others::map_type> && ...),
                "for_each needs arrays of one distribution");
  [[maybe_unused]] std::size_t position = 1;
  [[maybe_unused]] const auto check = [&](const auto& other) {
    ++position;
    if (!(other.map() == first.map()))
      fail_not_alike(position, First::distribution_type::name, other.size(), other.map().ranks(),
                     first.size(), first.map().ranks());
  };
  (check(others), ...);
}

// The smallest number of elements that fills whole cache lines in every array. The parts of two
// tasks meet at multiples of it, so tasks never share a line.
template <class... Arrays>
constexpr std::size_t line_items() {
  std::size_t items = 1;
  ((items = std::lcm(
        items, cache_line_bytes / std::gcd(cache_line_bytes, sizeof(typename Arrays::value_type)))),
   ...);
  return items;
}

}  // namespace detail

/// Calls body(std::span<T>, ...) in each task, for kernels that have their own vector code. The
/// spans are the task's elements of each array on this rank. They have equal lengths and begin at a
/// cache line. Tasks without elements make no call. Throws errc::usage if the arrays differ in
/// size, ranks or blocks.
template <class... Arrays, class Body>
void for_each_span(tasks& workers, const zipped<Arrays...>& all, Body&& body) {
  std::apply(
      [&](auto*... array) {
        detail::check_alike(*array...);
        const std::size_t items = std::get<0>(all.arrays)->local().size();
        workers.for_each_range(
            items,
            [&](std::size_t begin, std::size_t end) {
              body(array->local().subspan(begin, end - begin)...);
            },
            detail::line_items<std::remove_const_t<Arrays>...>());
      },
      all.arrays);
}

/// Calls body(T&, ...) for each element of this rank, in any order and at the same time, on copies
/// of the body. REQUIRES: the body accesses no other elements of the arrays.
template <class... Arrays, class Body>
void for_each(tasks& workers, const zipped<Arrays...>& all, const Body& body) {
  for_each_span(workers, all, [&body](auto... spans) {
    const std::size_t items = std::get<0>(std::tie(spans...)).size();
    // With a local copy of the body, the compiler knows that writes to elements do not change its
    // captures. ivdep states the requirement above.
    [items, own_body = body](auto*... elements) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
      for (std::size_t i = 0; i < items; ++i) own_body(elements[i]...);
    }(spans.data()...);
  });
}

/// As above, in the calling thread alone.
template <class... Arrays, class Body>
void for_each_span(const zipped<Arrays...>& all, Body&& body) {
  tasks alone;
  for_each_span(alone, all, body);
}
template <class... Arrays, class Body>
void for_each(const zipped<Arrays...>& all, const Body& body) {
  tasks alone;
  for_each(alone, all, body);
}

}  // namespace longshore
