// Tells a plan that shareable memory of its fields was freed. Otherwise the plan, and neighbours
// that have mapped the memory, would go on with the old memory, also if new memory of the program
// lies at the same address.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/find_shareable.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace longshore::detail {

class memory_watch {
 public:
  /// Watches memory of a field, unless `lifetime` is empty.
  void add(std::size_t field, std::weak_ptr<const void> lifetime) {
    if (!lifetime.expired()) memories_.push_back({field, std::move(lifetime)});
  }
  /// Watches the shareable memory at an address, if there is any.
  void add(std::size_t field, const std::byte* address) {
    if (auto found = find_shareable(address)) add(field, std::move(found->lifetime));
  }
  /// Throws errc::usage if memory was freed. Cost: one load for each memory.
  void check() const {
    for (const auto& memory : memories_)
      if (memory.lifetime.expired()) [[unlikely]]
        fail(errc::usage,
             "the memory of field {} was freed, and a plan still uses it: make a new plan for the "
             "new memory, and free memory after its plans",
             memory.field);
  }

 private:
  struct watched {
    std::size_t field;
    std::weak_ptr<const void> lifetime;
  };
  std::vector<watched> memories_;
};

}  // namespace longshore::detail
