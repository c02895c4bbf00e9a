// Tells a plan that shareable memory of its fields was freed. Without this check, the plan and its
// neighbours would still use the old memory, even if new memory lies at the same address.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace longshore::detail {

class freed_memory_check {
 public:
  /// Lists memory of a field for check(), unless `lifetime` is empty.
  void add(std::size_t field, std::weak_ptr<const void> lifetime);
  /// Lists the shareable memory at an address, if there is any.
  void add(std::size_t field, const std::byte* address);
  /// Throws errc::usage if memory was freed. Cost: one load for each memory.
  void check() const {
    for (const auto& memory : memories_)
      if (memory.lifetime.expired()) [[unlikely]]
        throw_for_freed(memory.field);
  }

 private:
  [[noreturn]] static void throw_for_freed(std::size_t field);
  struct field_lifetime {
    std::size_t field;
    std::weak_ptr<const void> lifetime;
  };
  std::vector<field_lifetime> memories_;
};

}  // namespace longshore::detail
