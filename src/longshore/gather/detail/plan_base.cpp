#include <longshore/gather/detail/plan_base.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {

plan_base::plan_base(const gather_decision& decision) : decision_(decision) {}
plan_base::~plan_base() = default;

const gather_choice& plan_base::choice() const noexcept {
  return sized_ ? sized_->current() : decision_.by_size.front();
}

exchange_stats plan_base::stats() const { return sized_ ? sized_->stats() : strategy_stats(); }

plan_base& plan_base::of_size(std::size_t requests) { return sized_->at(requests); }

void plan_base::plan_by_size(team& team, plans_by_size::make_plan make) {
  sized_ = std::make_unique<plans_by_size>(team, decision_.by_size, std::move(make));
}

void throw_size_error(const char* operation, int rank, std::size_t indices, std::size_t values,
                      bool output) {
  fail(errc::usage, "{} on rank {}: {} indices, but {}{} values: give as many of both", operation,
       rank, indices, output ? "room for " : "", values);
}

}  // namespace longshore::detail
