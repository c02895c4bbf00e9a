// How the CPUs of a host are divided among its ranks.
#pragma once

#include <longshore/machine/topology.hpp>

#include <array>
#include <span>
#include <vector>

namespace longshore::detail {

/// A set of CPUs as bits, for messages between ranks. CPUs with numbers from 8192 on are left out.
using cpu_mask = std::array<unsigned char, 8192 / 8>;
[[nodiscard]] cpu_mask mask_of(std::span<const int> cpus) noexcept;
/// The CPUs of a mask, ascending.
[[nodiscard]] std::vector<int> cpus_in(const cpu_mask& mask);

/// The CPUs of rank `index` of `ranks`: a contiguous share of `cpus`. The shares differ by at most
/// one CPU. If there are more ranks than CPUs, each rank has one CPU, dealt out round-robin.
[[nodiscard]] std::vector<int> cpu_share(std::span<const int> cpus, int index, int ranks);

/// As cpu_share, but the ranks have one core each, and the cores are neighbours. Reads the
/// topology, which takes milliseconds.
[[nodiscard]] std::vector<int> compact_share(std::span<const int> cpus, int index, int ranks);

struct host_share {
  std::vector<int> cpus;
  bool enough_cores;  ///< whether each rank of the host can have a core of its own
};
/// The CPUs of rank `index` of the `ranks` ranks of a host. If the launcher bound the rank to a
/// part of the host's CPUs, it has the `allowed` CPUs; else its cpu_share or compact_share.
[[nodiscard]] host_share share_of_host(const std::vector<int>& allowed,
                                       std::span<const int> host_cpus, int index, int ranks,
                                       bool compact);

/// `cpus` in hardware order. The first hardware threads of all cores come before the second ones.
[[nodiscard]] std::vector<int> core_order(std::span<const int> cpus, const topology& host);

}  // namespace longshore::detail
