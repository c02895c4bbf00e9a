// Some elements of a memory: a box with strides, or a list.
#pragma once

#include <longshore/exchange/detail/elements/index_list.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <utility>
#include <variant>

namespace longshore::detail {

/// A box of elements. `first` is the number of its first element. Along dimension d the box has
/// extents[d] elements, whose numbers are strides[d] apart. Dimension 0 varies fastest.
struct element_box {
  std::ptrdiff_t first = 0;
  std::array<std::size_t, 3> extents{1, 1, 1};
  std::array<std::ptrdiff_t, 3> strides{};

  [[nodiscard]] std::size_t size() const noexcept { return extents[0] * extents[1] * extents[2]; }
  /// Whether the elements follow each other in order, each `step` after the one before.
  [[nodiscard]] bool is_contiguous(std::ptrdiff_t step) const noexcept {
    for (int d = 0; d < 3; ++d) {
      if (extents[d] > 1 && strides[d] != step) return false;
      step *= static_cast<std::ptrdiff_t>(extents[d]);
    }
    return true;
  }
};

/// Elements of a memory by their numbers, in order.
class element_set {
 public:
  element_set() = default;
  element_set(index_list list) : elements_(std::move(list)) {}  // implicit: a set is either
  element_set(const element_box& box) : elements_(box) {}       //
  element_set(std::uint32_t first, std::size_t count) : elements_(index_list(first, count)) {}

  /// The box, or null if the set is a list.
  [[nodiscard]] const element_box* box() const noexcept {
    return std::get_if<element_box>(&elements_);
  }
  /// REQUIRES: the set is a list.
  [[nodiscard]] const index_list& list() const noexcept {
    assert(box() == nullptr);
    return *std::get_if<index_list>(&elements_);
  }
  [[nodiscard]] std::size_t size() const noexcept {
    return box() != nullptr ? box()->size() : list().size();
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }

 private:
  std::variant<index_list, element_box> elements_;
};

/// Returns about how many cache lines the elements touch, each once. Element i begins at i *
/// stride_bytes, and the first line at element 0.
[[nodiscard]] std::size_t line_count(const element_set& elements, std::ptrdiff_t stride_bytes,
                                     std::size_t element_bytes);

}  // namespace longshore::detail
