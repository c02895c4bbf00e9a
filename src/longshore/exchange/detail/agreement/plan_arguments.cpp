// Finds arguments that differ between ranks.
#include <longshore/exchange/detail/agreement/plan_arguments.hpp>

#include <longshore/transport/agree_on_errors.hpp>

namespace longshore::detail {

void plan_arguments::agree(team& ranks, const agreed_numbers& largest) const {
  const bool are_equal = largest[hash] == -largest[negated_hash];
  if (largest[failed] == 0 && are_equal) return;
  if (largest[failed] == 0) throw_for_other_arguments(ranks, what_, same_);
  agree_on_error_of_lowest_rank(ranks, what_, [&] {
    if (error_) std::rethrow_exception(error_);
  });
}

std::int64_t plan_arguments::agree_now(team& ranks, std::int64_t more) const {
  auto all = numbers();
  all.push_back(more);
  ranks.allreduce(std::span<std::int64_t>(all), reduction::max);
  agree(ranks, all);
  return all.back();
}

}  // namespace longshore::detail
