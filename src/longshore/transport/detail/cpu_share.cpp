// Divides the CPUs of a host among its ranks: equal contiguous shares, or one core per rank on
// neighbouring cores. All transports use this file when a team is made.
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/cpu_share.hpp>

#include <algorithm>
#include <map>

namespace longshore::detail {

cpu_mask mask_of(std::span<const int> cpus) noexcept {
  cpu_mask mask{};
  for (const int cpu : cpus)
    if (const auto byte = static_cast<std::size_t>(cpu) / 8; byte < mask.size())
      mask[byte] = static_cast<unsigned char>(mask[byte] | (1 << cpu % 8));
  return mask;
}

std::vector<int> cpus_in(const cpu_mask& mask) {
  std::vector<int> cpus;
  for (std::size_t byte = 0; byte < mask.size(); ++byte)
    for (int bit = 0; bit < 8; ++bit)
      if ((mask[byte] >> bit & 1) != 0) cpus.push_back(static_cast<int>(8 * byte) + bit);
  return cpus;
}

std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks) {
  const int count = static_cast<int>(cpus.size());
  if (ranks >= count) return {cpus[index % count]};
  const auto first = static_cast<long>(index) * count / ranks,
             last = static_cast<long>(index + 1) * count / ranks;
  return {cpus.begin() + first, cpus.begin() + last};
}

std::vector<int> core_order(std::span<const int> cpus, const topology& host) {
  std::size_t core_level = host.levels().size();  // stands for a topology without cores
  for (std::size_t level = 0; level < host.levels().size(); ++level)
    if (host.levels()[level].name == "core") core_level = level;
  std::map<int, std::vector<int>> by_thread;  // CPUs by index of the hardware thread in its core
  std::map<int, int> threads_seen;
  for (const int cpu : host.cpus()) {
    if (std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    const bool has_cores = core_level < host.levels().size();
    by_thread[has_cores ? threads_seen[host.object_of(core_level, cpu)]++ : 0].push_back(cpu);
  }
  std::vector<int> ordered;
  for (const auto& [thread, of_thread] : by_thread)
    ordered.insert(ordered.end(), of_thread.begin(), of_thread.end());
  for (const int cpu : cpus)  // CPUs that the topology does not list
    if (std::find(ordered.begin(), ordered.end(), cpu) == ordered.end()) ordered.push_back(cpu);
  return ordered;
}

std::vector<int> compact_share(std::span<const int> cpus, int index, int ranks) {
  if (ranks >= static_cast<int>(cpus.size())) return cpu_share(cpus, index, ranks);
  return {core_order(cpus, topology_of_this_machine())[index]};
}

host_share share_of_host(const std::vector<int>& allowed, std::span<const int> host_cpus, int index,
                         int ranks, bool compact) {
  const auto share = compact ? compact_share : cpu_share;
  // usable_cores() is less than the number of allowed CPUs only if there is a quota. Then not only
  // the CPUs, but also the cores of the quota must suffice for all ranks of the host.
  return {.cpus = allowed.size() < host_cpus.size() ? allowed : share(host_cpus, index, ranks),
          .enough_cores =
              ranks <= static_cast<int>(host_cpus.size()) &&
              (usable_cores() == static_cast<int>(allowed.size()) || ranks <= usable_cores())};
}

}  // namespace longshore::detail
