// Facts about this machine, read from files of Linux. An unknown fact is null.
#pragma once

#include "facts/json.hpp"

#include <filesystem>

namespace longshore::bench {

/// The "system" of a launch record, without facts that depend on the binding of the calling thread
/// (records/launch_record.cpp adds these). `root` holds proc, sys and etc: another folder in tests.
[[nodiscard]] json system_facts(const std::filesystem::path& root = "/");

/// Name of this host.
[[nodiscard]] std::string host_name();

/// The core that the calling thread is bound to, as the lowest of its logical CPUs; -1 when it may
/// run on several cores.
[[nodiscard]] int bound_core(const std::filesystem::path& root = "/");

}  // namespace longshore::bench
