// The exchange of halos: planned once, used often.
//
//     longshore::rank_grid grid(team);                               // periodic, 3 dimensions, factors found
//     longshore::field<double> u(grid, {64, 64, 64}, 2), v(grid, {64, 64, 64}, 2);
//     longshore::halo_exchange halos(grid, {.width = 2}, u, v);      // plan once
//     halos.start(); compute_interior(); halos.wait();               // use often
#pragma once

#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/field.hpp>
#include <longshore/halo/halo_widths.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/halo/rank_grid.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore {

struct halo_options {
  /// How much of every field's halo is filled; nothing: all of it.
  std::optional<halo_widths> width = {};
  halo_algorithm algorithm = halo_algorithm::standard;
  halo_mode mode = halo_mode::direct;
  /// What the stencil reads: without corners (or edges) their messages are saved.
  halo_reach reach = halo_reach::corners;
  /// Tasks that share the copying of large messages; null: the calling thread does it. They must
  /// outlive the plan.
  tasks* workers = nullptr;
};

/// A plan. Any number of plans may exist and be in flight together; destroying one is collective,
/// and not allowed in flight.
class halo_exchange {
 public:
  /// Collective: the same options, and fields of the same kind in the same order, on all ranks;
  /// blocks that are neighbours along one dimension have equal extents along the others. The memory
  /// of the fields must outlive the plan. Throws errc::usage when a width is larger than the halo
  /// of a field in memory or than its interior (errc::peer_failed on ranks whose own fields fit),
  /// errc::unsupported where the algorithm or the mode cannot be had. Ranks whose messages do not
  /// fit together throw errc::usage, and the run ends: only neighbours know of it. Memory per rank
  /// and messages: see the algorithm (standard.hpp, staged.hpp, ...) and the mode
  /// (mixed_carrier.hpp, mpi/).
  template <class... T>
  halo_exchange(const rank_grid& grid, const halo_options& options, const field_view<T>&... fields)
      : halo_exchange(grid, options, std::vector<field_memory>{fields.memory()...}) {}
  /// The same for fields of other owners.
  halo_exchange(const rank_grid& grid, const halo_options& options,
                const std::vector<field_memory>& fields);

  /// Begins an exchange. Until wait() has returned, or test() given true, neither the cells that
  /// leave (those within a width of a face) may be written, nor the halo read or written. Blocks in
  /// the modes whose MPI calls block. Throws errc::usage when one is in flight.
  void start();
  /// Goes on with the exchange as far as possible; true when it is complete.
  [[nodiscard]] bool test();
  /// Returns when the halo of this rank is filled, and its own cells may be written. Throws
  /// errc::usage when none was started.
  void wait();
  /// start() and wait().
  void exchange() {
    start();
    wait();
  }

  /// What this rank moves in one exchange. Payload is all that it sends, also to itself.
  [[nodiscard]] traffic moved() const;
  /// The algorithm; what was chosen where `automatic` was asked for.
  [[nodiscard]] halo_algorithm algorithm() const noexcept { return algorithm_; }
  /// How far the halo is filled: as far as options.reach said, or farther where the algorithm
  /// carries edges and corners in any case.
  [[nodiscard]] halo_reach filled() const { return filled_by(algorithm_, reach_); }
  /// Rounds of an exchange that depend on each other and move something between ranks.
  [[nodiscard]] std::size_t rounds() const noexcept { return rounds_between_ranks_; }

 private:
  halo_algorithm algorithm_ = halo_algorithm::standard;
  halo_reach reach_;
  std::vector<std::unique_ptr<message_carrier>> rounds_;
  std::size_t rounds_between_ranks_ = 0;
  std::size_t round_ = 0;  // in flight
  bool in_flight_ = false;
};

}  // namespace longshore
