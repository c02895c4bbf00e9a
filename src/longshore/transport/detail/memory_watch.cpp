// Finds the memory that a plan watches, and refuses a plan whose memory was freed.
#include <longshore/transport/detail/memory_watch.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <utility>

namespace longshore::detail {

void memory_watch::add(std::size_t field, std::weak_ptr<const void> lifetime) {
  if (!lifetime.expired()) memories_.push_back({field, std::move(lifetime)});
}

void memory_watch::add(std::size_t field, const std::byte* address) {
  if (auto found = find_shareable(address)) add(field, std::move(found->lifetime));
}

void memory_watch::throw_for_freed(std::size_t field) {
  fail(
      errc::usage,
      "the memory of the {} field was freed, and a plan still uses it: make a new plan for the new "
      "memory, and free memory after its plans",
      nth(field));
}

}  // namespace longshore::detail
