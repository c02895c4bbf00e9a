#include <longshore/gather/plans_by_size.hpp>

#include <algorithm>

namespace longshore::gathering {

std::size_t size_agreement::class_of_call(std::size_t requests) {
  constexpr unsigned widest_gap = 16;
  const bool large = current_ + 2 >= request_classes;
  if (calls_left_ > 0 && !large) {
    --calls_left_;
    return current_;
  }
  const auto agreed = static_cast<std::size_t>(team_.allreduce_value(static_cast<std::int64_t>(requests), reduction::max));
  const std::size_t now = request_class_of(agreed);
  gap_ = now != current_ ? 1 : std::min(2 * gap_, widest_gap);
  calls_left_ = gap_ - 1;
  current_ = now;
  return current_;
}

}  // namespace longshore::gathering
