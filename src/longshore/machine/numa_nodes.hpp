// NUMA nodes of pages: system calls to ask for them and to set them, without a library.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Parses a list of numbers in the kernel's notation: "0-2,7" is 0, 1, 2, 7. Stops at the first
/// invalid character.
[[nodiscard]] std::vector<int> numbers_in_list(std::string_view list);

/// NUMA nodes with memory on which this process may allocate, ascending. Never empty: {0} if the
/// kernel does not tell.
[[nodiscard]] std::vector<int> allowed_numa_nodes();

/// Asks the kernel to place the pages of [data, data + bytes) round-robin on allowed_numa_nodes().
/// REQUIRES: the range is page-aligned and not yet touched. Returns nothing, or the reason if the
/// kernel refuses. Never fails if there is one node.
[[nodiscard]] std::optional<std::string> interleave_pages(void* data, std::size_t bytes);

/// For each address, the node of its page; negative for a page without memory. Returns nothing if
/// the kernel does not tell (move_pages is missing, or a container forbids it).
[[nodiscard]] std::optional<std::vector<int>> numa_nodes_of_pages(std::span<void* const> addresses);

}  // namespace longshore
