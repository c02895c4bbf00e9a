// Words for the binding of a process or rank to CPUs and for who set it, for records and messages.
#pragma once

#include <longshore/machine/topology.hpp>

#include "facts/json.hpp"

#include <span>
#include <string>

namespace longshore::bench {

/// The topology of the host of this process. The first call reads it.
[[nodiscard]] const topology& this_host();

/// The list of CPUs as the kernel writes it: "0-3,8". REQUIRES: `cpus` are sorted.
[[nodiscard]] std::string cpu_list(std::span<const int> cpus);

/// The smallest object of a host that holds all of `cpus`: "core" (also for a hardware thread),
/// "l2", "l3", "numa" or "socket". "none" if `cpus` are all CPUs of the host. "cpus" if only the
/// whole host holds them.
[[nodiscard]] std::string binding_word(const topology& host, std::span<const int> cpus);

/// Who set the binding: "longshore" if the process had more CPUs at its start than now; else
/// "launcher" (or taskset, a batch system, ...) if the process has fewer CPUs than the host; else
/// "none".
[[nodiscard]] std::string bound_by(const topology& host, std::span<const int> at_start,
                                   std::span<const int> now);

/// For --list: the CPUs of this process, and the binding of the ranks that it would start.
[[nodiscard]] json binding_listing();
/// For --list: the host in one line, its levels, and the reason if only its cores are known.
[[nodiscard]] json topology_listing();

}  // namespace longshore::bench
