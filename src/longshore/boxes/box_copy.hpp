// Copies fields from one layout of boxes to another: each cell goes to the ranks that have it in
// the other layout. So 8 ranks can read a checkpoint of 27 ranks, and a Fourier transform can turn
// its pencils.
//
//     longshore::box_copy turn(x_pencils, {u}, y_pencils, {v});
//     turn.copy();
#pragma once

#include <longshore/boxes/box_exchange.hpp>

#include <cstddef>
#include <vector>

namespace longshore {

struct box_copy_options {
  box_mode mode = box_mode::direct;
  /// Whether halo cells of the target are filled, too.
  bool fills_halos = false;
};

/// A plan of a copy between two layouts on the ranks of one team. Cells of the target that the
/// source lacks are not changed. Plans are used like box_exchange.
class box_copy {
 public:
  /// Collective. Field i of `from` is copied to field i of `to`, which has the same element type and
  /// shares the same layers. Throws errc::usage on all ranks otherwise, and in the cases of
  /// box_exchange. Memory of the two fields must not overlap, and outlives the plan.
  box_copy(const box_layout& from_layout, std::vector<box_field_memory> from,
           const box_layout& to_layout, std::vector<box_field_memory> to,
           const box_copy_options& options = {});
  template <class T>
  box_copy(const box_layout& from_layout, const box_field_view<T>& from,
           const box_layout& to_layout, const box_field_view<T>& to,
           const box_copy_options& options = {})
      : box_copy(from_layout, std::vector{from.memory()}, to_layout, std::vector{to.memory()},
                 options) {}
  ~box_copy();
  box_copy(box_copy&& other) noexcept;
  box_copy& operator=(box_copy&& other) noexcept;

  /// Begins to copy. Until wait() returns or test() is true, the source must not be written, and the
  /// target must not be read or written. A stream orders the copy of fields in device memory, as
  /// in box_exchange.
  void start(std::optional<device_stream> stream = {});
  [[nodiscard]] bool test();
  void wait(std::optional<device_stream> stream = {});
  void copy() {
    start();
    wait();
  }
  /// The traffic of this rank in one copy.
  [[nodiscard]] traffic moved() const;
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  detail::exchange_plan& made_plan() const;

  box_layout from_, to_;
  detail::team_bound<detail::exchange_plan> plan_;
};

}  // namespace longshore
