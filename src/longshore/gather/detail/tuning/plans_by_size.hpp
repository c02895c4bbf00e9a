// Several plans for one table, for strategy auto if no choice is good for all numbers of requests.
// A call uses the plan for its number of requests.
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

class plan_implementation;

/// The ranks agree by an allreduce on the class of requests of a call: at the first call, and then
/// after 2, 4, 8, 16, 16, ... calls. They also agree at the next call after the class has changed,
/// and at the next call after a call of one of the two largest classes, where an allreduce costs
/// little compared with the requests. Other calls count as the class last agreed on: most plans are
/// used for calls of one size, and a choice for another size is slower but still correct.
class size_agreement {
 public:
  explicit size_agreement(team& team) : team_(team) {}
  /// Collective; all ranks get the same class. `requests`: the number of requests of this rank.
  std::size_t class_of_call(std::size_t requests);
  [[nodiscard]] std::size_t current() const noexcept { return current_; }

 private:
  team& team_;
  std::size_t current_ = 0;
  unsigned gap_ = 1;         // calls from one agreement to the next
  unsigned calls_left_ = 0;  // before the next agreement
};

class plans_by_size {
 public:
  using make_plan = std::function<std::unique_ptr<plan_implementation>(const gather_choice&)>;

  /// `make` is collective.
  plans_by_size(team& team, const choices_by_size& choices, make_plan make);
  ~plans_by_size();

  /// Collective. The plan for a call with this number of requests. Makes the plan if needed.
  plan_implementation& at(std::size_t requests);

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
  // Indexed by class. Classes with equal choices share the plan of the first of these classes.
  std::array<std::unique_ptr<plan_implementation>, request_classes> plans_;
};

}  // namespace longshore::detail
