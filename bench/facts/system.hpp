// What machine this is, read from the files in which Linux tells it. What is not told is null.
#pragma once

#include "facts/json.hpp"

#include <filesystem>

namespace longshore::bench {

/// The "system" of a launch record, but for what depends on which cores the calling thread is bound to. `root` is where /proc, /sys and /etc are: another folder in tests.
[[nodiscard]] json system_facts(const std::filesystem::path& root = "/");

/// Name of this host.
[[nodiscard]] std::string host_name();

/// The core that the calling thread is bound to, as the lowest of its logical CPUs; -1 when it may run on several cores.
[[nodiscard]] int bound_core(const std::filesystem::path& root = "/");

}  // namespace longshore::bench
