// Dividing the CPUs of a host among its ranks.
#pragma once

#include <longshore/machine/topology.hpp>

#include <span>
#include <vector>

namespace longshore {

/// The CPUs of rank `index` out of `ranks`: a contiguous share of `cpus`, remainder spread; with more ranks than CPUs one CPU, shared in turn.
[[nodiscard]] std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks);

/// The same with the ranks as near to each other as the hardware allows: one core each, which are neighbours. Reads the topology:
/// milliseconds.
[[nodiscard]] std::vector<int> compact_share(std::span<const int> cpus, int index, int ranks);
/// Those of `cpus` in the order of the hardware, one hardware thread of every core before the second of any.
[[nodiscard]] std::vector<int> core_order(std::span<const int> cpus, const topology& host);

}  // namespace longshore
