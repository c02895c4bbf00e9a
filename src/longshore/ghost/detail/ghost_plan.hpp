// A plan with a strategy: a program for each operation, and a mover for each round.
#pragma once

#include <longshore/ghost/detail/direct_peers.hpp>
#include <longshore/ghost/detail/ghost_links.hpp>
#include <longshore/ghost/detail/mover.hpp>
#include <longshore/ghost/ghost_exchange.hpp>
#include <longshore/transport/agree_on_arguments.hpp>
#include <longshore/transport/channel.hpp>
#include <longshore/transport/detail/memory_watch.hpp>

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

class link_mover;

/// The checks of the arguments of a plan. Each rank checks its own arguments. The ranks agree on
/// the result in the first collective call of the plan, so that the checks cost no call.
class plan_arguments {
 public:
  /// For arguments that were checked before.
  plan_arguments() = default;
  /// Local.
  plan_arguments(const ghost_graph& graph, const ghost_options& options,
                 std::span<const ghost_memory> fields);
  /// Local. Calls `step` unless there is an error already. Keeps its error for agree().
  template <class Step>
  void attempt(const Step& step) {
    if (error_) return;
    try {
      step();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  /// The numbers of this rank. All ranks learn the largest of each. The plan sets the last two.
  enum number : std::size_t { failed, hash, negated_hash, must_confirm, needs_channels, count };
  [[nodiscard]] agreed_numbers numbers() const {
    agreed_numbers all(count);
    all[failed] = error_ ? 1 : 0;
    all[hash] = same_.hash();
    all[negated_hash] = -all[hash];
    return all;
  }
  /// Collective. `largest` are the largest numbers of all ranks. If ranks have errors, all ranks
  /// throw the error of the lowest rank.
  void agree(team& ranks, const agreed_numbers& largest) const;

 private:
  common_arguments same_;
  std::exception_ptr error_;
};

class ghost_plan {
 public:
  /// Collective. Agrees on the arguments of all ranks. REQUIRES: a strategy that is not `automatic`.
  ghost_plan(const ghost_links& links, ghost_strategy strategy, const ghost_options& options,
             std::vector<ghost_memory> fields, plan_arguments arguments);
  ~ghost_plan();

  /// Begins an operation. For an update, `operations` is empty.
  void start(ghost_operation operation, std::span<const ghost_op> operations);
  [[nodiscard]] bool test();
  void wait();
  [[nodiscard]] traffic moved(ghost_operation operation) const;
  [[nodiscard]] std::size_t neighbours() const noexcept { return neighbours_; }
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  struct prepared_operation {
    bool is_prepared = false;
    std::vector<std::unique_ptr<mover>> rounds;
    std::size_t payload_bytes = 0;
  };
  struct agreement {
    bool has_channels;
    std::vector<std::vector<std::byte>> attachments;
  };
  [[nodiscard]] agreement agree(messenger& neighbours, const plan_arguments& arguments,
                                std::span<const ghost_program* const> programs,
                                const std::vector<std::vector<std::byte>>& attachments);
  [[nodiscard]] bool any_needs_channel(std::span<const ghost_program* const> programs,
                                       bool has_mapped) const;
  void cut(ghost_program& program) const;
  [[nodiscard]] std::vector<std::unique_ptr<mover>> make_movers(ghost_strategy strategy,
                                                                const ghost_program& program,
                                                                std::size_t first_round);
  void open_channels();
  void count_neighbours(std::span<const ghost_program* const> programs);
  void start_round();
  [[nodiscard]] bool progress();
  [[nodiscard]] int awaited_peer() const;

  team& ranks_;
  std::vector<ghost_memory> fields_;
  bool is_mpi_;  // whether the strategy is a sequence of MPI calls
  memory_watch watch_;
  plan_memory memory_;
  mover_context context_;
  std::optional<direct_peers> direct_peers_;
  std::unique_ptr<channel_set> channels_;
  std::vector<link_mover*> link_movers_;
  std::array<prepared_operation, 2> operations_;  // indexed by ghost_operation
  std::size_t neighbours_ = 0;
  // The operation in flight: null if there is none.
  prepared_operation* current_ = nullptr;
  std::size_t current_round_ = 0;
  std::vector<ghost_op> ops_;
  std::vector<combiner> combiners_;
};

/// Collective. Makes a plan of each candidate strategy on scratch memory, times updates by turns,
/// and returns the fastest strategy. The first plan agrees on the arguments, unless there is only
/// one candidate.
[[nodiscard]] ghost_strategy choose_ghost_strategy(const ghost_links& links,
                                                   std::span<const ghost_memory> fields,
                                                   plan_arguments& arguments);

}  // namespace longshore::detail
