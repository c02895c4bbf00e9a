// The functions of plans that do not depend on types. If the strategy depends on the number of
// requests, choice() and stats() ask the plans of the different sizes.
#include <longshore/gather/detail/plan_implementation.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {

plan_implementation::plan_implementation(const gather_decision& decision) : decision_(decision) {}
plan_implementation::~plan_implementation() = default;

const gather_choice& plan_implementation::choice() const noexcept {
  return plans_by_size_ ? plans_by_size_->current() : decision_.by_size.front();
}

exchange_stats plan_implementation::stats() const {
  return plans_by_size_ ? plans_by_size_->stats() : strategy_stats();
}

plan_implementation& plan_implementation::plan_for(std::size_t requests) {
  return plans_by_size_->at(requests);
}

void plan_implementation::make_plans_by_size(team& team, plans_by_size::make_plan make) {
  plans_by_size_ = std::make_unique<plans_by_size>(team, decision_.by_size, std::move(make));
}

void throw_size_error(const char* operation, int rank, std::size_t indices, std::size_t values,
                      values_role role) {
  fail(errc::usage, "{} on rank {}: {} indices, but {}{} values: give as many of both", operation,
       rank, indices, role == values_role::output ? "room for " : "", values);
}

}  // namespace longshore::detail
