// The main interface of the layer: plans that exchange the halos of fields. A plan is made once and
// used often.
//
//     longshore::rank_grid grid(team);                           // 3 dimensions, periodic
//     longshore::field<double> u(grid, {64, 64, 64}, 2), v(grid, {64, 64, 64}, 2);
//     longshore::halo_exchange halos(grid, {.width = 2}, u, v);  // once
//     halos.start(); compute_interior(); halos.wait();           // often
//     halos.exchange({.fields = {1}, .width = 1});               // v alone, one layer
//     halos.accumulate(longshore::op::add{});                    // halo cells to their owners
#pragma once

#include <longshore/exchange/field_exchange.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/tasks.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace longshore {

struct halo_options {
  /// The number of halo cells to fill on each side of every field. By default all halo cells of a
  /// field are filled.
  std::optional<halo_widths> width = {};
  halo_algorithm algorithm = halo_algorithm::standard;
  halo_mode mode = halo_mode::direct;
  /// The farthest cells that the stencil reads. A shorter reach saves messages.
  halo_reach reach = halo_reach::corners;
  /// The tasks that copy large messages. The tasks must outlive the plan. If `workers` is null, the
  /// calling thread copies the messages.
  tasks* workers = nullptr;
};

/// The operations of a plan.
enum class halo_operation {
  exchange,    ///< halo cells get the values of their owners
  accumulate,  ///< halo cells are combined into the cells of their owners
  assemble     ///< an accumulate; then all copies of a cell get its value
};

/// A plan of an exchange. Any number of plans may exist and be in flight together. Destroying a
/// plan is collective, and not allowed while the plan is in flight. Movable.
///
/// The owner of a cell is the block of which it is an interior cell. If blocks share a layer, the
/// block on the low side owns the layer, and the cells of the other block are copies, like halo
/// cells. An accumulate combines copies in the order of their ranks, and those of one rank in the
/// order of the sides of its block. Halo cells beyond `reach` of the options are not combined. Modes
/// that are MPI calls use MPI_Isend and MPI_Irecv for it, except for persistent and neighbor. All
/// ranks throw errc::usage if a block has fewer cells than the wider halo plus twice the shared
/// layers.
class halo_exchange final : public field_exchange {
 public:
  /// An empty plan, to which a plan can be assigned. Its operations throw errc::usage, like those of
  /// a plan that was moved from.
  halo_exchange();
  /// Whether this is a plan, and not empty.
  explicit operator bool() const noexcept { return static_cast<bool>(updates_); }
  /// Collective. All ranks pass the same grid, algorithm, mode and reach, and fields of the same
  /// types in the same order; otherwise all ranks throw errc::usage. Blocks that are neighbours
  /// along one dimension must have equal extents along the others. The memory of the fields must
  /// outlive the plan.
  ///
  /// Throws errc::usage if a width is larger than the halo or the interior of a field. Ranks whose
  /// own fields fit throw errc::peer_failed instead. On a side without a neighbour, a width has no
  /// meaning, and the halo needs no memory. Throws errc::unsupported if the algorithm or
  /// the mode is not available. All ranks throw errc::usage if the messages of two ranks do not fit
  /// together.
  ///
  /// The memory per rank and the number of messages depend on the algorithm
  /// (detail/algorithms/plan_rounds.cpp, hybrid.cpp) and on the mode
  /// (../exchange/detail/movers/link_mover.hpp, ../exchange/detail/mpi/).
  template <class... T>
  halo_exchange(const rank_grid& grid, const halo_options& options, const field_view<T>&... fields)
      : halo_exchange(grid, options, std::vector<field_memory>{fields.memory()...}) {}
  /// Like the constructor above, for fields whose element types are not known at compile time.
  halo_exchange(const rank_grid& grid, const halo_options& options,
                const std::vector<field_memory>& fields);
  ~halo_exchange() override;
  halo_exchange(halo_exchange&& other) noexcept;
  halo_exchange& operator=(halo_exchange&& other) noexcept;

  /// Begins an exchange. Until wait() returns or test() is true, the halo must not be read or
  /// written, and interior cells within a halo width of a face must not be written. Modes with
  /// blocking MPI calls block here. Throws errc::usage if an exchange is in flight.
  ///
  /// A part takes some of the fields, or fewer halo cells.
  void start(const exchange_part& part = {}, std::optional<device_stream> stream = {});
  void start(device_stream stream);
  void exchange(const exchange_part& part = {});

  /// The traffic of this rank in one operation. Payload counts the values that this rank gives to
  /// others and to itself. Before the first accumulate or assemble, the traffic of both is 0.
  [[nodiscard]] traffic moved(halo_operation operation = halo_operation::exchange) const {
    return field_exchange::moved(static_cast<detail::field_operation>(operation));
  }
  /// The algorithm of the plan. With option `automatic`, it is the chosen algorithm.
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }
  /// The farthest halo cells that the algorithm of the plan fills for options.reach (filled_by).
  [[nodiscard]] halo_reach filled() const { return filled_by(algorithm_, options_.reach); }
  /// The number of dependent rounds that move cells between ranks.
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_between_ranks_; }

 private:
  void make_accumulates() override;
  [[nodiscard]] std::unique_ptr<field_exchange> make_part(const exchange_part& part) override;

  std::optional<rank_grid> grid_;
  halo_options options_;
  std::vector<field_memory> fields_;
  halo_algorithm algorithm_ = halo_algorithm::standard;
  std::size_t rounds_between_ranks_ = 0;
};

}  // namespace longshore
