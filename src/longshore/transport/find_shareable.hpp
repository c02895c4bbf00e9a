// Finds the shareable memory of this process that contains an address. So users need not pass a
// handle together with their arrays.
#pragma once

#include <longshore/transport/shareable_memory.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace longshore::detail {

struct found_memory {
  shared_memory_handle handle;
  std::weak_ptr<const void> lifetime;  ///< expires when the memory is freed
};

/// The memory, or nothing if other processes cannot map the address. Any thread may call this
/// function.
[[nodiscard]] std::optional<found_memory> find_shareable(const std::byte* address);

}  // namespace longshore::detail
