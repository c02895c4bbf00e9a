// The checks of the arguments of a plan. Each rank checks its own, and the ranks agree on the result
// in the first collective call that the plan makes anyway.
#pragma once

#include <longshore/ghost/detail/exchange_with_all.hpp>
#include <longshore/ghost/ghost_exchange.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <cstdint>
#include <exception>
#include <span>

namespace longshore::detail {

class plan_arguments {
 public:
  /// Arguments that were checked before.
  plan_arguments() = default;
  /// Local.
  plan_arguments(const ghost_graph& graph, const ghost_options& options,
                 std::span<const ghost_memory> fields);
  /// Local. Keeps an error of `step` for agree(), if there is none yet.
  template <class Step>
  void attempt(const Step& step) {
    if (error_) return;
    try {
      step();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  /// The numbers of this rank, of which all ranks must know the largest. The last two, which are 0,
  /// are for the plan.
  [[nodiscard]] agreed_numbers numbers() const {
    const std::int64_t hash = same_.hash();
    return {error_ ? 1 : 0, hash, -hash, 0, 0};
  }
  /// Collective, with the largest numbers of all ranks. If a rank has an error, all ranks throw the
  /// first one.
  void agree(team& ranks, const agreed_numbers& largest) const;

 private:
  common_arguments same_;
  std::exception_ptr error_;
};

}  // namespace longshore::detail
