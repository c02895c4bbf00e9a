// The three arrays of STREAM on one rank. They are the rank's own arrays, or its parts of
// distributed arrays. Both classes have the same interface.
#pragma once

#include <longshore/array/for_each.hpp>
#include <longshore/machine/memory_block.hpp>

#include <array>
#include <span>
#include <string_view>

namespace longshore {

/// Scope `ep` (embarrassingly parallel): each rank allocates arrays of its own by a memory policy.
/// Local, without communication. Memory per rank: 3 x elements x sizeof(T).
template <class T>
class own_arrays {
 public:
  using value_type = T;
  /// Throws errc::out_of_memory. See memory_block for the policies.
  own_arrays(std::size_t elements, std::string_view policy)
      : elements_(elements),
        blocks_{block_of(elements, policy), block_of(elements, policy),
                block_of(elements, policy)} {}

  [[nodiscard]] std::span<T> local(std::size_t array) noexcept {
    return {reinterpret_cast<T*>(blocks_[array].data()), elements_};
  }

  /// Calls body(a, b, c) in each task with its part of each array.
  template <class Body>
  void for_each_span(tasks& workers, const Body& body) {
    workers.for_each_range(
        elements_,
        [&](std::size_t begin, std::size_t end) {
          body(local(0).subspan(begin, end - begin), local(1).subspan(begin, end - begin),
               local(2).subspan(begin, end - begin));
        },
        cache_line_bytes / sizeof(T));
  }

 private:
  static memory_block block_of(std::size_t elements, std::string_view policy) {
    if (elements > max_elements / sizeof(T))
      fail(errc::out_of_memory, "arrays of {} elements: more than any memory holds; use fewer",
           elements);
    return {elements * sizeof(T), policy};
  }
  std::size_t elements_;
  std::array<memory_block, 3> blocks_;
};

/// Scope `global`: three distributed arrays. Construction and destruction are collective. Memory
/// per rank: that of three dist_arrays.
template <class T, distribution Distribution>
class distributed_arrays {
 public:
  using value_type = T;
  /// `elements` is the size of each array over all ranks. Throws errc::out_of_memory on all ranks.
  distributed_arrays(team& team, std::uint64_t elements, Distribution distribution = {})
      : a_(team, elements, distribution),
        b_(team, elements, distribution),
        c_(team, elements, distribution) {}

  [[nodiscard]] std::span<T> local(std::size_t array) noexcept {
    return (array == 0 ? a_ : array == 1 ? b_ : c_).local();
  }

  template <class Body>
  void for_each_span(tasks& workers, const Body& body) {
    longshore::for_each_span(workers, zip(a_, b_, c_), body);
  }

 private:
  dist_array<T, Distribution> a_, b_, c_;
};

}  // namespace longshore
