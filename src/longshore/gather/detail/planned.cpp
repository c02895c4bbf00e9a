#include <longshore/gather/detail/planned.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {

planned::planned(const gather_decision& decision) : decision_(decision) {}
planned::~planned() = default;

const gather_choice& planned::choice() const noexcept {
  return sized_ ? sized_->current() : decision_.by_size.front();
}

exchange_report planned::what_happened() const {
  return sized_ ? sized_->what_happened() : report();
}

planned& planned::of_size(std::size_t requests) { return sized_->at(requests); }

void planned::plan_by_size(team& team, plans_by_size::make_plan make) {
  sized_ = std::make_unique<plans_by_size>(team, decision_.by_size, std::move(make));
}

void refuse_sizes(const char* operation, int rank, std::size_t indices, std::size_t values,
                  bool room) {
  fail(errc::usage, "{} on rank {}: {} indices, but {}{} values: both must be the same", operation,
       rank, indices, room ? "room for " : "", values);
}

}  // namespace longshore::detail
