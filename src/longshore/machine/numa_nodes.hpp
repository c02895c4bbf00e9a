// NUMA nodes as the kernel shows them: which this process may use, spreading pages over them, and
// asking where pages lie. Plain system calls: no library stands between.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Numbers in a list as the kernel writes it: "0-2,7" is 0, 1, 2, 7. Stops at what it does not
/// understand.
[[nodiscard]] std::vector<int> numbers_in_list(std::string_view list);

/// NUMA nodes with memory that this process may allocate on, ascending. Never empty: {0} where the
/// kernel does not say.
[[nodiscard]] std::vector<int> allowed_numa_nodes();

/// Asks the kernel to spread the pages of [data, data + bytes), page-aligned and not yet touched,
/// round-robin over allowed_numa_nodes(). Returns why it refused, or nothing. With one node there
/// is nothing to spread, and nothing to refuse.
[[nodiscard]] std::optional<std::string> interleave_pages(void* data, std::size_t bytes);

/// For each page that holds one of these addresses the node it lies on; negative for a page that no
/// memory stands behind yet. Nothing where the kernel does not say (a container's filter of system
/// calls, a kernel without move_pages).
[[nodiscard]] std::optional<std::vector<int>> numa_nodes_of_pages(std::span<void* const> addresses);

}  // namespace longshore
