// Sums page faults and facts about pages over all ranks. A sum is null in the record if one rank
// does not know its part.
#include "facts/pages.hpp"

#include <longshore/machine/page_facts.hpp>

#include "facts/process_id.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace longshore::bench {
namespace {

constexpr std::int64_t unknown = -1;
// More than any machine has. Bytes on a node with a higher number are not counted.
constexpr int max_numa_nodes = 256;

std::int64_t as_number(const std::optional<std::size_t>& bytes) {
  return bytes ? static_cast<std::int64_t>(*bytes) : unknown;
}

// Sums the bytes of all ranks. Null if they are unknown on any rank.
json sum_over_ranks(team& ranks, std::int64_t bytes) {
  if (ranks.allreduce_value(bytes, reduction::min) == unknown) return nullptr;
  return ranks.allreduce_value(bytes, reduction::sum);
}

struct rank_pages {
  std::int64_t bytes = 0, resident = 0, transparent = 0, explicit_huge = 0, page_bytes = unknown;
  std::array<std::int64_t, max_numa_nodes> on_node{};
  bool nodes_known = true;

  void add(const page_facts& facts) {
    bytes += static_cast<std::int64_t>(facts.bytes);
    add_known(resident, facts.resident_bytes);
    add_known(transparent, facts.transparent_huge_bytes);
    add_known(explicit_huge, facts.explicit_huge_bytes);
    page_bytes = std::max(page_bytes, as_number(facts.page_bytes_of_kernel));
    nodes_known = nodes_known && facts.nodes.has_value();
    if (!facts.nodes) return;
    for (const auto& [node, node_bytes] : *facts.nodes)
      if (node >= 0 && node < max_numa_nodes)
        on_node[static_cast<std::size_t>(node)] += static_cast<std::int64_t>(node_bytes);
  }

 private:
  static void add_known(std::int64_t& sum, const std::optional<std::size_t>& bytes) {
    sum = sum == unknown || !bytes ? unknown : sum + as_number(bytes);
  }
};

}  // namespace

page_fault_counter::page_fault_counter(team& ranks) : team_(ranks) {
  counts_for_process_ =
      is_first_rank_of_process(ranks.allgather_value(this_process(ranks)), ranks.rank());
  last_ = now();
}

fault_counts page_fault_counter::now() {
  team_.barrier();  // so that the faults of all ranks of this process are included
  std::array<std::int64_t, 2> counts{};
  if (counts_for_process_) {
    const auto [minor, major] = process_usage().faults;
    counts = {static_cast<std::int64_t>(minor), static_cast<std::int64_t>(major)};
  }
  team_.allreduce(counts, reduction::sum);
  return {static_cast<std::uint64_t>(counts[0]), static_cast<std::uint64_t>(counts[1])};
}

fault_counts page_fault_counter::since_last() {
  const fault_counts current = now(), since = current - last_;
  last_ = current;
  return since;
}

json pages_of_ranks(team& ranks, std::span<const std::span<const std::byte>> ranges) {
  rank_pages pages_of_rank;
  for (const auto range : ranges) pages_of_rank.add(inspect_pages(range.data(), range.size()));
  json account{{"bytes", sum_over_ranks(ranks, pages_of_rank.bytes)},
               {"resident_bytes", sum_over_ranks(ranks, pages_of_rank.resident)},
               {"transparent_huge_bytes", sum_over_ranks(ranks, pages_of_rank.transparent)},
               {"explicit_huge_bytes", sum_over_ranks(ranks, pages_of_rank.explicit_huge)}};
  const auto page_bytes = ranks.allreduce_value(pages_of_rank.page_bytes, reduction::max);
  account["page_bytes"] = page_bytes == unknown ? json(nullptr) : json(page_bytes);
  const bool nodes_known =
      ranks.allreduce_value(pages_of_rank.nodes_known ? 1 : 0, reduction::min) == 1;
  ranks.allreduce(pages_of_rank.on_node, reduction::sum);
  account["numa_node_bytes"] = nullptr;
  if (nodes_known) {
    json nodes = json::object();
    for (std::size_t node = 0; node < pages_of_rank.on_node.size(); ++node)
      if (pages_of_rank.on_node[node] > 0)
        nodes[fmt::format("{}", node)] = pages_of_rank.on_node[node];
    account["numa_node_bytes"] = nodes;
  }
  return account;
}

}  // namespace longshore::bench
