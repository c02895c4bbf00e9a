// Several plans for one table: each call uses the plan for its number of requests. Strategy auto
// needs this if no choice is good for all numbers of requests.
#pragma once

#include <longshore/gather/exchange_stats.hpp>
#include <longshore/gather/options.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

namespace longshore {
class team;
}

namespace longshore::detail {

class plan_base;

/// Determines the class of requests of each call, the same on all ranks. The ranks agree on it by
/// an allreduce: at the first call; then after 2, 4, 8, 16, 16, ... calls, beginning again after a
/// change; and at each call that follows a call of one of the two largest classes, where an
/// allreduce costs little compared with the requests. Calls in between count as the class last
/// agreed on: most plans are used for calls of one size, and a choice for another size is slower
/// but still correct.
class size_agreement {
 public:
  explicit size_agreement(team& team) : team_(team) {}
  /// Collective. `requests`: the number of requests of this rank.
  std::size_t class_of_call(std::size_t requests);
  [[nodiscard]] std::size_t current() const noexcept { return current_; }

 private:
  team& team_;
  std::size_t current_ = 0;
  unsigned gap_ = 1, calls_left_ = 0;
};

class plans_by_size {
 public:
  using make_plan = std::function<std::unique_ptr<plan_base>(const gather_choice&)>;

  /// `make` is collective.
  plans_by_size(team& team, const choices_by_size& choices, make_plan make);
  ~plans_by_size();

  /// Collective. The plan for this call, which is made when it is first needed.
  plan_base& at(std::size_t requests);

  /// The sum of the statistics of all plans that were made.
  [[nodiscard]] exchange_stats stats() const;

  /// The choice for the last call.
  [[nodiscard]] const gather_choice& current() const noexcept {
    return choices_[agreement_.current()];
  }

 private:
  size_agreement agreement_;
  choices_by_size choices_;
  make_plan make_;
  // equal choices share the plan of the first of them
  std::array<std::unique_ptr<plan_base>, request_classes> plans_;
};

}  // namespace longshore::detail
