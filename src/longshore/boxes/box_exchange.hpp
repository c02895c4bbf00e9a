// The main interface of the layer: plans that exchange the halos of boxes. A plan is made once and
// used often.
//
//     longshore::box_layout layout(team, my_boxes, {.domain = all, .periodic = {true, true, false}});
//     longshore::box_field<double> u(layout, 2), v(layout, 1, {1, 1, 1});  // cells, vertices
//     longshore::box_exchange halos(layout, {}, u, v);
//     halos.update();                          // halo cells get the values of their owners
//     halos.update({.fields = {1}});           // v alone
//     halos.assemble(longshore::op::add{});    // all copies of a cell get their sum
#pragma once

#include <longshore/boxes/box_field.hpp>
#include <longshore/boxes/box_layout.hpp>
#include <longshore/core/name_lookup.hpp>
#include <longshore/exchange/field_exchange.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace longshore {

/// How a plan moves cells.
enum class box_mode {
  direct,  ///< reads from the owner's memory on a node where possible; else one message per rank
  channel  ///< one message per rank
};

template <>
inline constexpr enum_names<2> all_names<box_mode> = {"box mode", {"direct", "channel"}};

struct box_options {
  box_mode mode = box_mode::direct;
};

/// The operations of a plan.
enum class box_operation {
  update,      ///< halo cells get the values of their owners
  accumulate,  ///< copies are combined into the cells of their owners
  assemble     ///< an accumulate; then all copies of a cell get its value
};

/// A plan of exchanges between the boxes of all ranks, for one or several fields together. A pair of
/// ranks has at most one message per operation. Any number of plans may exist and be in flight
/// together. Destroying a plan is collective, and not allowed while the plan is in flight. Movable.
///
/// The owner of a cell that several boxes share is the box with the lowest number. An accumulate
/// combines copies in the order of their boxes.
class box_exchange final : public field_exchange {
 public:
  /// Collective. All ranks pass the same options, and fields of the same types, widths and shared
  /// layers in the same order; otherwise all ranks throw errc::usage. They also throw it if a view
  /// does not have the extents of its box or memory for its halo, if a halo with the shared layers
  /// is wider than a periodic domain, and if a field shares layers in a layout with glued cells.
  /// The memory of the fields must outlive the plan.
  ///
  /// Neighbours are found by a tree over all boxes, in O((n + k) log N) for n boxes of this rank, N
  /// boxes of all ranks and k pairs of neighbours. Memory per rank: about 300 bytes per pair of
  /// neighbours and field, and twice the packed messages to ranks whose memory cannot be read.
  template <class... T>
  box_exchange(const box_layout& layout, const box_options& options,
               const box_field_view<T>&... fields)
      : box_exchange(layout, options, std::vector<box_field_memory>{fields.memory()...}) {}
  /// Like the constructor above, for fields whose types are not known at compile time.
  box_exchange(const box_layout& layout, const box_options& options,
               std::vector<box_field_memory> fields);
  ~box_exchange() override;
  box_exchange(box_exchange&& other) noexcept;
  box_exchange& operator=(box_exchange&& other) noexcept;

  /// Begins to copy cells to the halos of other boxes. Shared layers, and halo cells that no box
  /// owns, are not changed. Until wait() returns or test() is true, halos must not be read or
  /// written, and cells within a halo width of a border of their box must not be written. Throws
  /// errc::usage if the plan is in flight.
  ///
  /// A part takes some of the fields, or fewer halo cells.
  void start_update(const exchange_part& part = {}, std::optional<device_stream> stream = {});
  void update(const exchange_part& part = {});

  /// The traffic of this rank in one operation. Payload includes copies within the rank. Before the
  /// first accumulate or assemble, the traffic of both is 0.
  [[nodiscard]] traffic moved(box_operation operation = box_operation::update) const {
    return field_exchange::moved(static_cast<detail::field_operation>(operation));
  }
  [[nodiscard]] const box_layout& layout() const noexcept { return layout_; }
  /// The number of other ranks with which this rank exchanges messages, or whose memory it reads.
  [[nodiscard]] std::size_t neighbours() const;
  /// The memory of the plan and its parts on this rank, without the layout and the fields.
  [[nodiscard]] std::size_t memory_bytes() const { return memory_of_plans(); }

 private:
  void make_accumulates() override;
  [[nodiscard]] std::unique_ptr<field_exchange> make_part(const exchange_part& part) override;

  box_layout layout_;
  box_options options_;
  std::vector<box_field_memory> fields_;
};

}  // namespace longshore
