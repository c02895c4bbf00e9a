// Exchanges the halos of fields. A plan is made once and used often.
//
//     longshore::rank_grid grid(team);                           // 3 dimensions, periodic
//     longshore::field<double> u(grid, {64, 64, 64}, 2), v(grid, {64, 64, 64}, 2);
//     longshore::halo_exchange halos(grid, {.width = 2}, u, v);  // once
//     halos.start(); compute_interior(); halos.wait();           // often
#pragma once

#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/halo_widths.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>
#include <longshore/machine/tasks.hpp>
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
  /// The number of halo cells that are filled on each side of every field; nothing: all of them.
  std::optional<halo_widths> width = {};
  halo_algorithm algorithm = halo_algorithm::standard;
  halo_mode mode = halo_mode::direct;
  /// The cells that the stencil reads. Without corners (or edges) their messages are saved.
  halo_reach reach = halo_reach::corners;
  /// The tasks that copy large messages; null: the calling thread. They must outlive the plan.
  tasks* workers = nullptr;
};

/// A plan of an exchange. Any number of plans may exist and be in flight together. Destroying a
/// plan is collective, and not allowed in flight. Movable.
class halo_exchange {
 public:
  /// Collective. REQUIRES: the same options, and fields of the same types in the same order, on all
  /// ranks. Blocks that are neighbours along one dimension must have equal extents along the
  /// others. The memory of the fields must outlive the plan.
  ///
  /// Throws errc::usage if a width is larger than the halo of a field in memory or than its
  /// interior (errc::peer_failed on ranks whose own fields fit), errc::unsupported if the algorithm
  /// or the mode is not available. Ranks whose messages do not fit together throw errc::usage, and
  /// the run ends, because only neighbours learn of this error. Memory per rank and messages depend
  /// on the algorithm (detail/algorithms/standard.hpp, staged.hpp, ...) and on the mode
  /// (detail/backends/mixed_backend.hpp, detail/mpi/).
  template <class... T>
  halo_exchange(const rank_grid& grid, const halo_options& options, const field_view<T>&... fields)
      : halo_exchange(grid, options, std::vector<field_memory>{fields.memory()...}) {}
  /// The same for fields that are described by their memory.
  halo_exchange(const rank_grid& grid, const halo_options& options,
                const std::vector<field_memory>& fields);
  ~halo_exchange();
  halo_exchange(halo_exchange&& other) noexcept;
  halo_exchange& operator=(halo_exchange&& other) noexcept;

  /// Begins an exchange. Until wait() returns or test() is true, the halo must not be read or
  /// written, and interior cells within a width of a face must not be written. Modes whose MPI
  /// calls block also block here. Throws errc::usage if an exchange is in flight.
  void start();
  /// Continues the exchange as far as possible without blocking; true when it is complete.
  [[nodiscard]] bool test();
  /// Returns when the halo of this rank is filled and its interior may be written. Throws
  /// errc::usage if no exchange was started.
  void wait();
  /// start() and wait().
  void exchange() {
    start();
    wait();
  }

  /// What this rank moves in one exchange. Payload includes what it sends to itself.
  [[nodiscard]] traffic moved() const;
  /// The algorithm of the plan; with `automatic`, the algorithm that was chosen.
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }
  /// The farthest halo cells that are filled: options.reach, or more if the algorithm carries edges
  /// and corners in any case.
  [[nodiscard]] halo_reach filled() const { return filled_by(algorithm_, reach_); }
  /// The number of dependent rounds that move something between ranks.
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_between_ranks_; }

 private:
  halo_algorithm algorithm_ = halo_algorithm::standard;
  halo_reach reach_;
  std::vector<std::unique_ptr<detail::exchange_backend>> rounds_;
  std::size_t rounds_between_ranks_ = 0;
  std::size_t current_round_ = 0;
  bool in_flight_ = false;
};

}  // namespace longshore
