// Loops over distributed arrays by owner-computes: each rank visits its own elements of one or more
// arrays, with all of its tasks.
//
//     longshore::for_each(workers, longshore::zip(a, b, c),
//                         [q](double& x, const double& y, const double& z) { x = y + q * z; });
//
// The body gets plain references to local elements, so the loop is as fast as a loop over local
// arrays. All calls are local, without communication or barrier. To visit all elements of an array,
// every rank must call the function.
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

/// Pointers to the arrays of one loop, made by zip(). Const arrays give const elements.
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

/// Throws errc::usage: array number `position` (from 1) is distributed differently from array 1.
[[noreturn]] inline void fail_different_distribution(std::size_t position,
                                                     std::string_view distribution,
                                                     std::uint64_t size, int ranks,
                                                     std::uint64_t first_size, int first_ranks) {
  if (size == first_size && ranks == first_ranks)
    fail(errc::usage,
         "for_each over arrays with different distributions: array {} is {} in other blocks than "
         "array 1; use equal blocks",
         position, distribution);
  fail(errc::usage,
       "for_each over arrays that differ: array 1 has {} elements over {} ranks, array {} has {} "
       "over {}; they must be equal",
       first_size, first_ranks, position, size, ranks);
}

template <class First, class... Others>
void check_same_distribution(const First& first, const Others&... others) {
  static_assert((std::is_same_v<typename First::map_type, typename Others::map_type> && ...),
                "for_each needs arrays of one distribution");
  [[maybe_unused]] std::size_t position = 1;
  [[maybe_unused]] const auto check = [&](const auto& other) {
    ++position;
    if (!(other.map() == first.map()))
      fail_different_distribution(position, First::distribution_type::name, other.size(),
                                  other.map().ranks(), first.size(), first.map().ranks());
  };
  (check(others), ...);
}

// The smallest number of elements that fills complete cache lines in every array. The parts of
// tasks are multiples of this number, so tasks never share a line.
template <class... Arrays>
constexpr std::size_t line_items() {
  std::size_t items = 1;
  ((items = std::lcm(
        items, cache_line_bytes / std::gcd(cache_line_bytes, sizeof(typename Arrays::value_type)))),
   ...);
  return items;
}

}  // namespace detail

/// Calls body(std::span<T>, ...) in each task, for kernels that have their own vector code. Each
/// span holds the task's elements of one array on this rank. All spans have equal lengths and begin
/// at a cache line. Tasks without elements make no call. Throws errc::usage if the arrays differ in
/// size, ranks or blocks.
template <class... Arrays, class Body>
void for_each_span(tasks& workers, const zipped<Arrays...>& zipped_arrays, Body&& body) {
  std::apply(
      [&](auto*... array) {
        detail::check_same_distribution(*array...);
        const std::size_t items = std::get<0>(zipped_arrays.arrays)->local().size();
        workers.for_each_range(
            items,
            [&](std::size_t begin, std::size_t end) {
              body(array->local().subspan(begin, end - begin)...);
            },
            detail::line_items<std::remove_const_t<Arrays>...>());
      },
      zipped_arrays.arrays);
}

/// Calls body(T&, ...) for each element of this rank, in any order. The tasks run at the same time,
/// each with a copy of the body. REQUIRES: the body accesses no other elements of the arrays.
template <class... Arrays, class Body>
void for_each(tasks& workers, const zipped<Arrays...>& zipped_arrays, const Body& body) {
  for_each_span(workers, zipped_arrays, [&body](auto... spans) {
    const std::size_t items = std::get<0>(std::tie(spans...)).size();
    // The local copy shows the compiler that writes to elements do not change captures of the body.
    // ivdep states the requirement above.
    [items, copy = body](auto*... elements) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
      for (std::size_t i = 0; i < items; ++i) copy(elements[i]...);
    }(spans.data()...);
  });
}

/// The same two functions in the calling thread alone.
template <class... Arrays, class Body>
void for_each_span(const zipped<Arrays...>& zipped_arrays, Body&& body) {
  tasks calling_thread;
  for_each_span(calling_thread, zipped_arrays, body);
}
template <class... Arrays, class Body>
void for_each(const zipped<Arrays...>& zipped_arrays, const Body& body) {
  tasks calling_thread;
  for_each(calling_thread, zipped_arrays, body);
}

}  // namespace longshore
