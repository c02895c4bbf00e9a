// A field on the boxes of a layout: a block of memory with a halo for each box of this rank.
#pragma once

#include <longshore/boxes/box_layout.hpp>
#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/dense_layout.hpp>
#include <longshore/exchange/field_view.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace longshore {

/// The memory of a field on boxes, without its element type.
struct box_field_memory {
  std::size_t element_bytes = 0;
  const detail::element_type* type = nullptr;
  /// The halo to fill, and the layers that neighbouring boxes share (field_options). All ranks have
  /// the same.
  halo_widths widths;
  std::array<int, 3> shared{};
  /// One for each box of this rank. Interior extents are those of the box, plus `shared`.
  std::vector<field_memory> boxes;
};

/// A field in the user's memory. Copies refer to the same memory.
template <trivially_copyable T>
class box_field_view {
 public:
  /// `views` has one view for each box of this rank, in the order of the layout. Cell (0, 0, 0) of a
  /// view is the first cell of its box. Each view has memory for a halo of at least `widths`. A field
  /// of vertices shares {1, 1, 1} layers, and its views have one more cell along each dimension.
  box_field_view(std::span<const field_view<T>> views, halo_widths widths,
                 const std::array<int, 3>& shared = {})
      : views_(views.begin(), views.end()),
        memory_{sizeof(T), &detail::element_type_of<T>, widths, shared, {}} {
    for (const auto& view : views) memory_.boxes.push_back(view.memory());
  }

  [[nodiscard]] std::size_t size() const noexcept { return views_.size(); }
  /// The view of a box of this rank.
  [[nodiscard]] const field_view<T>& operator[](std::size_t box) const noexcept {
    return views_[box];
  }
  [[nodiscard]] const box_field_memory& memory() const noexcept { return memory_; }

 protected:
  box_field_view() = default;
  std::vector<field_view<T>> views_;
  box_field_memory memory_;
};

/// A field that owns its memory, which neighbours on the node can read. All cells are zero at first.
/// Movable; a plan stays valid when its fields are moved.
template <trivially_copyable T>
class box_field : public box_field_view<T> {
 public:
  /// Local. Throws errc::usage for a negative width, errc::out_of_memory.
  box_field(const box_layout& layout, halo_widths widths, const std::array<int, 3>& shared = {}) {
    for (int d = 0; d < 3; ++d)
      if (widths.low[d] < 0 || widths.high[d] < 0 || shared[d] < 0)
        fail(errc::usage, "a halo of {} and {} cells along {}, and {} shared layers: use 0 or more",
             widths.low[d], widths.high[d], axis_names[d], shared[d]);
    const auto extents_of = [&](const cell_box& box) {
      std::array<std::size_t, 3> extents{};
      for (int d = 0; d < 3; ++d)
        extents[d] = static_cast<std::size_t>(box.cells[d]) + static_cast<std::size_t>(shared[d]);
      return extents;
    };
    constexpr std::size_t line = detail::larger(cache_line_bytes / sizeof(T), 1);
    std::vector<detail::dense_layout> layouts;
    std::size_t cells = 0;  // of the boxes so far, which begin at cache lines
    for (const auto& box : layout.mine()) {
      auto& here =
          layouts.emplace_back(detail::dense_layout_of(extents_of(box), widths, sizeof(T)));
      here.first += cells;
      cells = round_up(cells + here.cells, line);
      if (cells > PTRDIFF_MAX / 2 / sizeof(T))
        fail(errc::out_of_memory, "the boxes of a field are more than any memory holds");
    }
    memory_ = shareable_memory(layout.ranks(), detail::larger(cells, 1) * sizeof(T));
    std::vector<field_view<T>> views;
    for (std::size_t b = 0; b < layouts.size(); ++b)
      views.push_back(field_view<T>(reinterpret_cast<T*>(memory_.data()) + layouts[b].first,
                                    extents_of(layout.mine()[b]), layouts[b].strides, widths,
                                    {.shared = shared, .shareable = &memory_}));
    static_cast<box_field_view<T>&>(*this) = box_field_view<T>(views, widths, shared);
  }

 private:
  shareable_memory memory_;
};

}  // namespace longshore
