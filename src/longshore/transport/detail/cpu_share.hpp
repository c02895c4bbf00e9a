// How the CPUs of a host are divided among its ranks.
#pragma once

#include <longshore/machine/topology.hpp>

#include <array>
#include <span>
#include <vector>

namespace longshore::detail {

/// A set of CPUs as bits, for messages between ranks. CPUs with numbers above 8191 are left out.
using cpu_mask = std::array<unsigned char, 8192 / 8>;
[[nodiscard]] cpu_mask mask_of(std::span<const int> cpus) noexcept;
/// The CPUs of a mask, ascending.
[[nodiscard]] std::vector<int> cpus_in(const cpu_mask& mask);

/// The CPUs of rank `index` of `ranks` ranks: a contiguous share of `cpus`. The lengths of the
/// shares differ by at most one. If there are more ranks than CPUs, each rank has one CPU, assigned
/// round-robin.
[[nodiscard]] std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks);

/// Like cpu_share, but each rank has one core, and the ranks are on neighbouring cores. Reads the
/// topology, which takes milliseconds.
[[nodiscard]] std::vector<int> compact_share(std::span<const int> cpus, int index, int ranks);

struct host_share {
  std::vector<int> cpus;
  bool enough_cores;  ///< whether each rank of the host can have its own core
};
/// The CPUs of rank `index` of the `ranks` ranks of a host. If the launcher bound the rank to a
/// part of `host_cpus`, these are the `allowed` CPUs; else the compact_share (if `compact`) or the
/// cpu_share.
[[nodiscard]] host_share share_of_host(const std::vector<int>& allowed,
                                       std::span<const int> host_cpus, int index, int ranks,
                                       bool compact);

/// `cpus` in hardware order. The first hardware threads of all cores precede the second hardware
/// threads.
[[nodiscard]] std::vector<int> core_order(std::span<const int> cpus, const topology& host);

}  // namespace longshore::detail
