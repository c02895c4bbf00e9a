#include <longshore/gather/detail/tuning/plans_by_size.hpp>

#include <longshore/gather/detail/plan_base.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>

namespace longshore::detail {

std::size_t size_agreement::class_of_call(std::size_t requests) {
  constexpr unsigned widest_gap = 16;
  const bool large = current_ + 2 >= request_classes;
  if (calls_left_ > 0 && !large) {
    --calls_left_;
    return current_;
  }
  const auto agreed = static_cast<std::size_t>(
      team_.allreduce_value(static_cast<std::int64_t>(requests), reduction::max));
  const std::size_t now = request_class_of(agreed);
  gap_ = now != current_ ? 1 : std::min(2 * gap_, widest_gap);
  calls_left_ = gap_ - 1;
  current_ = now;
  return current_;
}

plans_by_size::plans_by_size(team& team, const choices_by_size& choices, make_plan make)
    : agreement_(team), choices_(choices), make_(std::move(make)) {}
plans_by_size::~plans_by_size() = default;

plan_base& plans_by_size::at(std::size_t requests) {
  const auto& choice = choices_[agreement_.class_of_call(requests)];
  auto& plan = plans_[static_cast<std::size_t>(std::find(choices_.begin(), choices_.end(), choice) -
                                               choices_.begin())];
  if (!plan) plan = make_(choice);
  return *plan;
}

exchange_stats plans_by_size::stats() const {
  exchange_stats all;
  for (const auto& plan : plans_)
    if (plan) all += plan->stats();
  return all;
}

}  // namespace longshore::detail
