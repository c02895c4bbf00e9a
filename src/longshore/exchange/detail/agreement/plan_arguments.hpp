// The checks of the arguments of a plan. Each rank checks its own arguments. The ranks agree on the
// result in the first collective call of the plan, so that the checks cost no call.
#pragma once

#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/transport/agree_on_arguments.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

namespace longshore::detail {

class plan_arguments {
 public:
  /// For arguments that were checked before.
  plan_arguments() = default;
  /// Local. `what` names the plan in messages, and must exist as long as the program. `same` are
  /// the arguments that must be equal on all ranks.
  plan_arguments(std::string_view what, common_arguments same)
      : what_(what), same_(std::move(same)) {}
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
  /// The numbers of this rank. All ranks learn the largest of each. The plan sets the last four.
  enum number : std::size_t {
    failed,
    hash,
    negated_hash,
    must_confirm,
    needs_channels,
    on_host,    ///< whether fields lie in memory of the host
    on_device,  ///< whether fields lie in memory of a device
    count
  };
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
  /// Collective: an allreduce. Agrees before the first call of the plan. Returns the largest `more`
  /// of all ranks.
  [[nodiscard]] std::int64_t agree_now(team& ranks, std::int64_t more) const;

 private:
  std::string_view what_ = "a plan";
  common_arguments same_;
  std::exception_ptr error_;
};

}  // namespace longshore::detail
