// Finds the shareable memory that a plan uses, and refuses a plan whose memory was freed.
#include <longshore/transport/detail/freed_memory_check.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <utility>

namespace longshore::detail {

void freed_memory_check::add(std::size_t field, std::weak_ptr<const void> lifetime) {
  if (!lifetime.expired()) memories_.push_back({field, std::move(lifetime)});
}

void freed_memory_check::add(std::size_t field, const std::byte* address) {
  if (auto found = find_shareable(address)) add(field, std::move(found->lifetime));
}

void freed_memory_check::throw_for_freed(std::size_t field) {
  fail(
      errc::usage,
      "the memory of the {} field was freed, and a plan still uses it: make a new plan for the new "
      "memory, and free memory after its plans",
      nth(field));
}

}  // namespace longshore::detail
