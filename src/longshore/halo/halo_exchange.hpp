// The main interface of the layer: plans that exchange the halos of fields. A plan is made once and
// used often.
//
//     longshore::rank_grid grid(team);                           // 3 dimensions, periodic
//     longshore::field<double> u(grid, {64, 64, 64}, 2), v(grid, {64, 64, 64}, 2);
//     longshore::halo_exchange halos(grid, {.width = 2}, u, v);  // once
//     halos.start(); compute_interior(); halos.wait();           // often
#pragma once

#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/detail/memory_watch.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/traffic.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

namespace detail {
class exchange_backend;
}

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

/// A plan of an exchange. Any number of plans may exist and be in flight together. Destroying a
/// plan is collective, and not allowed while the plan is in flight. Movable.
class halo_exchange {
 public:
  /// Collective. All ranks pass the same grid, algorithm, mode and reach, and fields of the same
  /// types in the same order; otherwise all ranks throw errc::usage. Blocks that are neighbours
  /// along one dimension must have equal extents along the others. The memory of the fields must
  /// outlive the plan.
  ///
  /// Throws errc::usage if a width is larger than the halo or the interior of a field. Ranks whose
  /// own fields fit throw errc::peer_failed instead. Throws errc::unsupported if the algorithm or
  /// the mode is not available. All ranks throw errc::usage if the messages of two ranks do not fit
  /// together.
  ///
  /// The memory per rank and the number of messages depend on the algorithm
  /// (detail/algorithms/plan_rounds.cpp, hybrid.cpp) and on the mode
  /// (detail/backends/mixed_backend.cpp, detail/mpi/).
  template <class... T>
  halo_exchange(const rank_grid& grid, const halo_options& options, const field_view<T>&... fields)
      : halo_exchange(grid, options, std::vector<field_memory>{fields.memory()...}) {}
  /// Like the constructor above, for fields whose element types are not known at compile time.
  halo_exchange(const rank_grid& grid, const halo_options& options,
                const std::vector<field_memory>& fields);
  ~halo_exchange();
  halo_exchange(halo_exchange&& other) noexcept;
  halo_exchange& operator=(halo_exchange&& other) noexcept;

  /// Begins an exchange. Until wait() returns or test() is true, the halo must not be read or
  /// written, and interior cells within a halo width of a face must not be written. Modes with
  /// blocking MPI calls block here. Throws errc::usage if an exchange is in flight.
  void start();
  /// Continues the exchange as far as possible without blocking. Returns whether it is complete.
  [[nodiscard]] bool test();
  /// Returns when the halo of this rank is filled and its interior may be written. Throws
  /// errc::usage if no exchange was started.
  void wait();
  void exchange() {
    start();
    wait();
  }

  /// The traffic of this rank in one exchange. Payload includes the messages of the rank to itself.
  [[nodiscard]] traffic moved() const;
  /// The payload of this rank in one exchange, split by the way in which it moves.
  [[nodiscard]] halo_transfers transfers() const;
  /// The algorithm of the plan. With option `automatic`, it is the chosen algorithm.
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }
  /// The farthest halo cells that the algorithm of the plan fills for options.reach (filled_by).
  [[nodiscard]] halo_reach filled() const { return filled_by(algorithm_, reach_); }
  /// The number of dependent rounds that move cells between ranks.
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_between_ranks_; }

 private:
  halo_algorithm algorithm_ = halo_algorithm::standard;
  halo_reach reach_;
  using rounds_of_plan = std::vector<std::unique_ptr<detail::exchange_backend>>;
  detail::team_bound<rounds_of_plan> rounds_;
  detail::memory_watch memories_;
  std::size_t rounds_between_ranks_ = 0;
  std::size_t current_round_ = 0;
  bool in_flight_ = false;
};

}  // namespace longshore
