// Dividing the CPUs of a host among its ranks.
#pragma once

#include <span>
#include <vector>

namespace longshore {

/// The CPUs of rank `index` out of `ranks`: a contiguous share of `cpus`, remainder spread; with more ranks than CPUs one CPU, shared in turn.
[[nodiscard]] std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks);

}  // namespace longshore
