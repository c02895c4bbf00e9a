// The functions of plans that do not depend on types.
#include <longshore/gather/detail/plan_implementation.hpp>

#include <longshore/core/error.hpp>

#include <algorithm>

namespace longshore::detail {

plan_implementation::plan_implementation(const gather_decision& decision) : decision_(decision) {}
plan_implementation::~plan_implementation() = default;

exchange_stats plan_implementation::stats() const {
  if (!has_plans_by_size()) return strategy_stats();
  exchange_stats sum;
  for (const auto& plan : plans_)
    if (plan) sum += plan->stats();
  return sum;
}

void plan_implementation::use_plans_by_size(team& team, make_plan make) {
  agreement_.emplace(team);
  make_ = std::move(make);
}

plan_implementation& plan_implementation::plan_for(std::size_t requests) {
  const auto& choices = decision_.by_size;
  const auto& choice = choices[agreement_->class_of_call(requests)];
  auto& plan = plans_[static_cast<std::size_t>(std::find(choices.begin(), choices.end(), choice) -
                                               choices.begin())];
  if (!plan) plan = make_(choice);
  return *plan;
}

void throw_size_error(const char* operation, int rank, std::size_t indices, std::size_t values,
                      values_role role) {
  fail(errc::usage, "{} on rank {}: {} indices, but {}{} values: give as many of both", operation,
       rank, indices, role == values_role::output ? "room for " : "", values);
}

}  // namespace longshore::detail
