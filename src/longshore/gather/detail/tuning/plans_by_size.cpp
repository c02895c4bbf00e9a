// Keeps one plan for each choice that is used, and selects the plan of a call by the number of
// requests on which the ranks have last agreed.
#include <longshore/gather/detail/tuning/plans_by_size.hpp>

#include <longshore/gather/detail/plan_implementation.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>

namespace longshore::detail {

std::size_t size_agreement::class_of_call(std::size_t requests) {
  constexpr unsigned max_gap = 16;
  // In the two largest classes an allreduce costs little compared with the requests.
  const bool is_large = current_ + 2 >= request_classes;
  if (calls_left_ > 0 && !is_large) {
    --calls_left_;
    return current_;
  }
  const auto max_requests = static_cast<std::size_t>(
      team_.allreduce_value(static_cast<std::int64_t>(requests), reduction::max));
  const std::size_t agreed = request_class_of(max_requests);
  gap_ = agreed != current_ ? 1 : std::min(2 * gap_, max_gap);
  calls_left_ = gap_ - 1;
  current_ = agreed;
  return current_;
}

plans_by_size::plans_by_size(team& team, const choices_by_size& choices, make_plan make)
    : agreement_(team), choices_(choices), make_(std::move(make)) {}
plans_by_size::~plans_by_size() = default;

plan_implementation& plans_by_size::at(std::size_t requests) {
  const auto& choice = choices_[agreement_.class_of_call(requests)];
  // Classes with equal choices share the plan of the first of these classes.
  auto& plan = plans_[static_cast<std::size_t>(std::find(choices_.begin(), choices_.end(), choice) -
                                               choices_.begin())];
  if (!plan) plan = make_(choice);
  return *plan;
}

exchange_stats plans_by_size::stats() const {
  exchange_stats sum;
  for (const auto& plan : plans_)
    if (plan) sum += plan->stats();
  return sum;
}

}  // namespace longshore::detail
