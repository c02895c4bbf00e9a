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
#include <longshore/device/stream.hpp>
#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/detail/plan_parts.hpp>
#include <longshore/exchange/exchange_part.hpp>
#include <longshore/exchange/transfers.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/traffic.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

namespace detail {
class exchange_plan;
}

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
class box_exchange {
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
  ~box_exchange();
  box_exchange(box_exchange&& other) noexcept;
  box_exchange& operator=(box_exchange&& other) noexcept;

  /// Begins to copy cells to the halos of other boxes. Shared layers, and halo cells that no box
  /// owns, are not changed. Until wait() returns or test() is true, halos must not be read or
  /// written, and cells within a halo width of a border of their box must not be written. Throws
  /// errc::usage if the plan is in flight.
  ///
  /// A part takes some of the fields, or fewer halo cells.
  ///
  /// Fields in device memory (docs/guides/devices.md) are read and written after the work that
  /// `stream` has now. Without a stream, their cells are complete when the call begins. Throws
  /// errc::usage for a stream of another device, and for a stream if the fields lie in memory of
  /// the host.
  void start_update(const exchange_part& part = {}, std::optional<device_stream> stream = {});
  /// Begins to combine the copies of each cell into the owner's cell: cell = op(cell, copy). Copies
  /// lie in halos and in shared layers, whose owner is the box with the lowest number. Copies are
  /// combined in the order of their boxes, so the bits of the result do not depend on the mode, the
  /// nodes or timing. Copies keep their values.
  ///
  /// All ranks pass the same operation: one for all fields, or one per field of the part. The first
  /// call of start_accumulate() or start_assemble() is collective: it makes the plan of both. Throws
  /// errc::usage if a field's type does not have the operation, or if the plan is in flight.
  void start_accumulate(const combine_op& operation, const exchange_part& part = {},
                        std::optional<device_stream> stream = {});
  void start_accumulate(std::span<const combine_op> operations, const exchange_part& part = {},
                        std::optional<device_stream> stream = {});
  /// Begins an accumulate, and then gives the value of each cell to all its copies, in halos and in
  /// shared layers. So a cell has the same bits everywhere.
  void start_assemble(const combine_op& operation, const exchange_part& part = {},
                      std::optional<device_stream> stream = {});
  void start_assemble(std::span<const combine_op> operations, const exchange_part& part = {},
                      std::optional<device_stream> stream = {});
  /// Continues the operation as far as possible without blocking. Returns whether it is complete.
  [[nodiscard]] bool test();
  /// Returns when the operation is complete on this rank. Throws errc::usage if none was started.
  ///
  /// With a stream, for fields in device memory: returns when all messages of this rank have arrived.
  /// Work that is then appended to the stream begins after the operation. If no message passes
  /// through the host, the call waits for no work of the device.
  void wait(std::optional<device_stream> stream = {});
  void update(const exchange_part& part = {});
  void accumulate(const combine_op& operation, const exchange_part& part = {});
  void accumulate(std::span<const combine_op> operations, const exchange_part& part = {});
  void assemble(const combine_op& operation, const exchange_part& part = {});
  void assemble(std::span<const combine_op> operations, const exchange_part& part = {});

  /// The traffic of this rank in one operation. Payload includes copies within the rank. Before the
  /// first accumulate or assemble, the traffic of both is 0.
  [[nodiscard]] traffic moved(box_operation operation = box_operation::update) const;
  /// The payload of this rank in one update, split by the way in which it moves.
  [[nodiscard]] exchange_transfers transfers() const;
  [[nodiscard]] const box_layout& layout() const noexcept { return layout_; }
  /// The number of other ranks with which this rank exchanges messages, or whose memory it reads.
  [[nodiscard]] std::size_t neighbours() const;
  /// The memory of the plan and its parts on this rank, without the layout and the fields.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  void start(box_operation operation, std::span<const combine_op> operations,
             const exchange_part& part, std::optional<device_stream> stream);
  detail::exchange_plan& run(box_operation operation, std::span<const combine_op> operations,
                             std::optional<device_stream> stream);
  box_exchange& plan_of(const exchange_part& part);
  [[nodiscard]] detail::exchange_plan& update_plan() const;

  box_layout layout_;
  box_options options_;
  std::vector<box_field_memory> fields_;
  // After the first accumulate, the first plan is kept only if a field shares layers.
  detail::team_bound<detail::exchange_plan> updates_;
  detail::team_bound<detail::exchange_plan> accumulates_;  // null until the first accumulate
  detail::plan_parts<box_exchange> parts_;
  detail::exchange_plan* running_ = nullptr;  // of this plan or of a part
};

}  // namespace longshore
