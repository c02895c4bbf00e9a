// Facts about this machine, read from files of Linux. An unknown fact is null.
#pragma once

#include "facts/json.hpp"

#include <filesystem>
#include <string>

namespace longshore::bench {

/// The "system" of a launch record, without usable cores and topology (records/launch_record.cpp
/// adds them). `root` is the folder with proc, sys and etc.
[[nodiscard]] json system_facts(const std::filesystem::path& root = "/");

[[nodiscard]] std::string host_name();

/// The core that the calling thread is bound to, named by its lowest allowed CPU. -1 if the thread
/// may run on several cores.
[[nodiscard]] int bound_core(const std::filesystem::path& root = "/");

}  // namespace longshore::bench
