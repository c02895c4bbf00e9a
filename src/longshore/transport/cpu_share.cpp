#include <longshore/transport/cpu_share.hpp>

namespace longshore {

std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks) {
  const int count = static_cast<int>(cpus.size());
  if (ranks >= count) return {cpus[index % count]};
  const auto first = static_cast<long>(index) * count / ranks, last = static_cast<long>(index + 1) * count / ranks;
  return {cpus.begin() + first, cpus.begin() + last};
}

}  // namespace longshore
