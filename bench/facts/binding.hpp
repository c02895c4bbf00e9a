// To what ranks are bound, and by whom: in words for records and people.
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

/// The smallest object of a host that holds these CPUs: "core" (also for a thread of it), "l2", "l3", "numa", "socket"; "none"
/// when they are all that the host has; "cpus" when they are fewer, but no object holds them.
[[nodiscard]] std::string binding_word(const topology& host, std::span<const int> cpus);

/// Who bound: "longshore" when there are fewer CPUs now than when the process was started, else "launcher" (or taskset, a batch
/// system, ...) when they are not all of the host's; "none".
[[nodiscard]] std::string bound_by(const topology& host, std::span<const int> at_start, std::span<const int> now);

/// For --list: what this process may use, and what ranks that it starts will get.
[[nodiscard]] json binding_listing();
/// For --list: the host in a line, and its levels; why little is known, or null.
[[nodiscard]] json topology_listing();

}  // namespace longshore::bench
