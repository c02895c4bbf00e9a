// Several plans for one table, of which each call takes the one for its number of requests: what
// strategy auto is where no choice is good for all sizes.
#pragma once

#include <longshore/gather/exchange_report.hpp>
#include <longshore/gather/options.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>

namespace longshore {
class team;
}

namespace longshore::detail {}

namespace longshore::detail {

class planned;

/// The class of requests of each call, the same on all ranks. They agree on it at the first call,
/// then 2, 4, 8, 16, 16, ... calls later, from the next call on again when it has changed; and at
/// each call that follows one of the two largest classes, where an allreduce is nothing beside the
/// requests. Calls between these are taken for as large as the last that was agreed on: a plan is
/// mostly used for calls of one size, and any choice is right for any size, only slower.
class size_agreement {
 public:
  explicit size_agreement(team& team) : team_(team) {}
  /// Collective. `requests` of this rank.
  std::size_t class_of_call(std::size_t requests);
  [[nodiscard]] std::size_t current() const noexcept { return current_; }

 private:
  team& team_;
  std::size_t current_ = 0;
  unsigned gap_ = 1, calls_left_ = 0;
};

class plans_by_size {
 public:
  using make_plan = std::function<std::unique_ptr<planned>(const gather_choice&)>;

  /// `make` is collective.
  plans_by_size(team& team, const choices_by_size& choices, make_plan make);
  ~plans_by_size();

  /// Collective. The plan for this call, made when it is first needed.
  planned& at(std::size_t requests);

  /// What all plans that were made have to tell, added up.
  [[nodiscard]] exchange_report what_happened() const;

  /// Of the last call.
  [[nodiscard]] const gather_choice& current() const noexcept {
    return choices_[agreement_.current()];
  }

 private:
  size_agreement agreement_;
  choices_by_size choices_;
  make_plan make_;
  // of equal choices only the first has one
  std::array<std::unique_ptr<planned>, request_classes> plans_;
};

}  // namespace longshore::detail
