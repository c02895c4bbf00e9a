// Owner-computes over distributed arrays: every rank, in all of its tasks, visits its own elements
// of several arrays at once.
//
//     longshore::for_each(workers, longshore::zip(a, b, c), [q](double& x, const double& y, const double& z) { x = y + q * z; });
//
// The body sees plain references: data that is known to be local is treated as local, so the loop
// is that of local arrays. Local calls: no communication and no barrier; each rank may call by
// itself, and all do so to cover the arrays.
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

/// Arrays that are walked together; holds pointers to them. Const arrays give const elements.
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

/// Throws errc::usage: array `position` (from 1) of a zip does not match the first.
[[noreturn]] void refuse_unequal(std::size_t position, std::string_view distribution,
                                 std::uint64_t size, int ranks, std::uint64_t first_size,
                                 int first_ranks);

template <class First, class... Others>
void check_equal(const First& first, const Others&... others) {
  static_assert((std::is_same_v<typename First::map_type, typename Others::map_type> && ...),
                "for_each needs arrays of one distribution");
  [[maybe_unused]] std::size_t position = 1;
  [[maybe_unused]] const auto check = [&](const auto& other) {
    ++position;
    if (!(other.map() == first.map()))
      refuse_unequal(position, First::distribution_type::name, other.size(), other.map().ranks(),
                     first.size(), first.map().ranks());
  };
  (check(others), ...);
}

// Tasks meet only at whole cache lines of every array: the least number of elements that is a
// multiple of a line in each.
template <class... Arrays>
constexpr std::size_t line_items() {
  std::size_t items = 1;
  ((items = std::lcm(
        items, cache_line_bytes / std::gcd(cache_line_bytes, sizeof(typename Arrays::value_type)))),
   ...);
  return items;
}

}  // namespace detail

/// Calls body(std::span<T>, ...) in each task with the task's elements of each array on this rank,
/// all of the same length: one contiguous piece per task, that begins at a cache line. Tasks
/// without elements are left out. This is what kernels with vector code of their own use. Throws
/// errc::usage when the arrays differ in size, ranks or blocks.
template <class... Arrays, class Body>
void for_each_span(tasks& workers, const zipped<Arrays...>& all, Body&& body) {
  std::apply(
      [&](auto*... array) {
        detail::check_equal(*array...);
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

/// Calls body(T&, ...) for each element of this rank. REQUIRES: the body touches no other elements
/// of the arrays; calls may run in any order and at the same time, on copies of the body.
template <class... Arrays, class Body>
void for_each(tasks& workers, const zipped<Arrays...>& all, const Body& body) {
  for_each_span(workers, all, [&body](auto... spans) {
    const std::size_t items = std::get<0>(std::tie(spans...)).size();
    // The body is copied so that what it captured is known not to change with the elements; ivdep
    // states the requirement above.
    [items, own_body = body](auto*... elements) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
      for (std::size_t i = 0; i < items; ++i) own_body(elements[i]...);
    }(spans.data()...);
  });
}

/// The same with the calling thread alone.
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
