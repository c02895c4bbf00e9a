#include "facts/pages.hpp"

#include <longshore/machine/page_facts.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace longshore::bench {
namespace {

constexpr std::int64_t unknown = -1;
constexpr int most_nodes = 256;  // NUMA nodes in the sum: more than any machine has

std::int64_t as_number(const std::optional<std::size_t>& bytes) {
  return bytes ? static_cast<std::int64_t>(*bytes) : unknown;
}

// The sum over ranks; null when any rank does not know its number.
json sum_of(team& ranks, std::int64_t mine) {
  if (ranks.allreduce_value(mine, reduction::min) == unknown) return nullptr;
  return ranks.allreduce_value(mine, reduction::sum);
}

// All ranges of one rank.
struct rank_pages {
  std::int64_t bytes = 0, resident = 0, transparent = 0, explicit_huge = 0, page_bytes = unknown;
  std::array<std::int64_t, most_nodes> on_node{};
  bool nodes_known = true;

  void add(const page_facts& facts) {
    bytes += static_cast<std::int64_t>(facts.bytes);
    add_known(resident, facts.resident_bytes);
    add_known(transparent, facts.transparent_huge_bytes);
    add_known(explicit_huge, facts.explicit_huge_bytes);
    page_bytes = std::max(page_bytes, as_number(facts.page_bytes_of_kernel));
    nodes_known = nodes_known && facts.nodes.has_value();
    if (!facts.nodes) return;
    for (const auto& [node, held] : *facts.nodes)
      if (node >= 0 && node < most_nodes)
        on_node[static_cast<std::size_t>(node)] += static_cast<std::int64_t>(held);
  }

 private:
  static void add_known(std::int64_t& sum, const std::optional<std::size_t>& bytes) {
    sum = sum == unknown || !bytes ? unknown : sum + as_number(bytes);
  }
};

}  // namespace

page_fault_counter::page_fault_counter(team& ranks) : team_(ranks) {
  struct identity {
    int process, node;
    bool operator==(const identity&) const = default;
  };
  const identity mine{getpid(), ranks.nodes().is_virtual() ? 0 : ranks.nodes().my_node()};
  const auto all = ranks.allgather_value(mine);
  counts_for_process_ = std::find(all.begin(), all.end(), mine) - all.begin() == ranks.rank();
  last_ = now();
}

fault_counts page_fault_counter::now() {
  team_.barrier();  // includes the faults of the other ranks of this process
  std::array<std::int64_t, 2> counts{};
  if (counts_for_process_) {
    const auto [minor, major] = process_usage().faults;
    counts = {static_cast<std::int64_t>(minor), static_cast<std::int64_t>(major)};
  }
  team_.allreduce(counts, reduction::sum);
  return {static_cast<std::uint64_t>(counts[0]), static_cast<std::uint64_t>(counts[1])};
}

fault_counts page_fault_counter::since_last() {
  const fault_counts all = now(), since = all - last_;
  last_ = all;
  return since;
}

json pages_of_ranks(team& ranks, std::span<const std::span<const std::byte>> ranges) {
  rank_pages mine;
  for (const auto range : ranges) mine.add(inspect_pages(range.data(), range.size()));
  json account{{"bytes", sum_of(ranks, mine.bytes)},
               {"resident_bytes", sum_of(ranks, mine.resident)},
               {"transparent_huge_bytes", sum_of(ranks, mine.transparent)},
               {"explicit_huge_bytes", sum_of(ranks, mine.explicit_huge)}};
  const auto page_bytes = ranks.allreduce_value(mine.page_bytes, reduction::max);
  account["page_bytes"] = page_bytes == unknown ? json(nullptr) : json(page_bytes);
  const bool nodes_known = ranks.allreduce_value(mine.nodes_known ? 1 : 0, reduction::min) == 1;
  ranks.allreduce(mine.on_node, reduction::sum);
  account["numa_node_bytes"] = nullptr;
  if (nodes_known) {
    json nodes = json::object();
    for (std::size_t node = 0; node < mine.on_node.size(); ++node)
      if (mine.on_node[node] > 0) nodes[fmt::format("{}", node)] = mine.on_node[node];
    account["numa_node_bytes"] = nodes;
  }
  return account;
}

}  // namespace longshore::bench
