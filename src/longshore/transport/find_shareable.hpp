// Finds the shareable memory of this process that contains an address. So users need not pass a
// handle together with their arrays.
#pragma once

#include <longshore/transport/shareable_memory.hpp>

#include <cstddef>
#include <optional>

namespace longshore::detail {

/// The handle of the memory, or nothing if other processes cannot map the address. Any thread may
/// call this function.
[[nodiscard]] std::optional<shared_memory_handle> find_shareable(const std::byte* address);

}  // namespace longshore::detail
