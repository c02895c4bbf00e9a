#include <longshore/gather/plans_by_size.hpp>

namespace longshore::gathering {

std::size_t size_agreement::class_of_call(std::size_t requests) {
  constexpr unsigned first_calls = 2, stride = 8;
  const unsigned call = calls_++;
  if (call < first_calls || call % stride == 0 || current_ + 1 == request_classes)
    current_ = request_class_of(static_cast<std::size_t>(team_.allreduce_value(static_cast<std::int64_t>(requests), reduction::max)));
  return current_;
}

}  // namespace longshore::gathering
