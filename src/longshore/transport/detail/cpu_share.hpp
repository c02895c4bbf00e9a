// Dividing the CPUs of a host among its ranks.
#pragma once

#include <longshore/machine/topology.hpp>

#include <array>
#include <span>
#include <vector>

namespace longshore::detail {

/// CPUs as bits, as ranks tell each other of theirs. Those from 8192 on are left out.
using cpu_mask = std::array<unsigned char, 8192 / 8>;
[[nodiscard]] cpu_mask mask_of(std::span<const int> cpus) noexcept;
/// Ascending.
[[nodiscard]] std::vector<int> cpus_in(const cpu_mask& mask);

/// The CPUs of rank `index` out of `ranks`: a contiguous share of `cpus`, remainder spread; with
/// more ranks than CPUs one CPU, shared in turn.
[[nodiscard]] std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks);

/// The same with the ranks as near to each other as the hardware allows: one core each, which are
/// neighbours. Reads the topology: milliseconds.
[[nodiscard]] std::vector<int> compact_share(std::span<const int> cpus, int index, int ranks);

struct host_share {
  std::vector<int> cpus;
  bool enough_cores;  ///< for all ranks of the host, each on its own
};
/// What rank `index` out of `ranks` of a host has of it: what it is `allowed`, where its launcher
/// bound it to a part of the host's CPUs; else its cpu_share or compact_share of them.
[[nodiscard]] host_share share_of_host(const std::vector<int>& allowed,
                                       std::span<const int> host_cpus, int index, int ranks,
                                       bool compact);

/// Those of `cpus` in the order of the hardware, one hardware thread of every core before the
/// second of any.
[[nodiscard]] std::vector<int> core_order(std::span<const int> cpus, const topology& host);

}  // namespace longshore::detail
