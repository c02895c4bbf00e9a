// Finds the loop of an operation for a type of elements.
#include <longshore/exchange/combine_op.hpp>

#include <utility>

namespace longshore {

combine_op combine_op::of_batches(detail::batch_function loop, std::shared_ptr<const void> state) {
  combine_op made;
  made.state_ = std::move(state);
  made.loop_ = loop;
  return made;
}

detail::batch_function combine_op::loop_for(const detail::element_type& type) const {
  if (kind_ == kind::function) return type_ == nullptr || *type_ == *type.type ? loop_ : nullptr;
  return type.loops[static_cast<std::size_t>(kind_)];
}

std::optional<std::size_t> combine_op::standard_operation() const noexcept {
  return kind_ == kind::function ? std::nullopt : std::optional(static_cast<std::size_t>(kind_));
}

}  // namespace longshore
