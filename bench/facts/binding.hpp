// The binding of a process or rank to CPUs, and who set it, in words for records and people.
#pragma once

#include <longshore/machine/topology.hpp>

#include "facts/json.hpp"

#include <span>
#include <string>

namespace longshore::bench {

/// The topology of the host of this process, read once.
[[nodiscard]] const topology& this_host();

/// "0-3,8", as the kernel writes lists of CPUs. `cpus` ascend.
[[nodiscard]] std::string cpu_list(std::span<const int> cpus);

/// The smallest object of a host that holds these CPUs: "core" (also for a thread of it), "l2",
/// "l3", "numa", "socket"; "none" when they are all CPUs of the host; "cpus" when no smaller object
/// holds them.
[[nodiscard]] std::string binding_word(const topology& host, std::span<const int> cpus);

/// Who set the binding: "longshore" if the process had more CPUs at its start than now; "launcher"
/// (or taskset, a batch system, ...) if it had fewer than the host; else "none".
[[nodiscard]] std::string bound_by(const topology& host, std::span<const int> at_start,
                                   std::span<const int> now);

/// For --list: the CPUs of this process, and the binding of ranks that it would start.
[[nodiscard]] json binding_listing();
/// For --list: the host in one line, its levels, and why little is known about it, or null.
[[nodiscard]] json topology_listing();

}  // namespace longshore::bench
