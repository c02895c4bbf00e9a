// NUMA nodes by plain system calls, without a library: the nodes that this process may use,
// interleaved placement of pages, and the node of a page.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Parses a list of numbers as the kernel writes it: "0-2,7" is 0, 1, 2, 7. Stops at the first
/// character that it cannot parse.
[[nodiscard]] std::vector<int> numbers_in_list(std::string_view list);

/// NUMA nodes with memory on which this process may allocate, ascending. Never empty: {0} if the
/// kernel does not tell.
[[nodiscard]] std::vector<int> allowed_numa_nodes();

/// Asks the kernel to place the pages of [data, data + bytes) round-robin on allowed_numa_nodes().
/// REQUIRES: the range is page-aligned and not yet touched. Returns the reason if the kernel
/// refuses, else nothing. With one node it never fails.
[[nodiscard]] std::optional<std::string> interleave_pages(void* data, std::size_t bytes);

/// For each address, the node of its page; negative for a page without memory. Returns nothing if
/// the kernel does not tell (no move_pages, or a container that filters it).
[[nodiscard]] std::optional<std::vector<int>> numa_nodes_of_pages(std::span<void* const> addresses);

}  // namespace longshore
