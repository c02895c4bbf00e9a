// Machine files for tests of the simulated machine.
#pragma once

#include <longshore/transport/launch/run.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

namespace longshore::simulated_tests {

constexpr double micro = 1e-6;
constexpr double latency = 1.0 * micro, overhead = 0.3 * micro, gap = 0.1 * micro,
                 per_byte = 0.1e-9;

inline const char* const machine_table = R"([machine]
name = "test"
version = "1"
nodes = 64
ranks_per_node = 1
)";
inline const char* const network_table = R"([network]
latency_us = 1.0
send_overhead_us = 0.3
receive_overhead_us = 0.3
gap_us = 0.1
ns_per_byte = 0.1
)";
inline const char* const memory_table = R"([memory]
near_copy_GB_per_s = 10.0
far_copy_GB_per_s = 5.0
node_copy_GB_per_s = 100.0
latency_us = 0.1
atomic_us = 0.02
message_us = 0.05
)";
inline const char* const cost_table = R"([cost]
stream_GB_per_s = 10.0
push_ns = 3.0
pull_ns = 3.0
bucket_ns = 4.0
sort_ns = 20.0
table_access_ns = 5.0
)";

// A machine file for the lifetime of the object.
class machine_file {
 public:
  explicit machine_file(const std::string& text) {
    static int number = 0;
    path_ = ::testing::TempDir() + "machine_" + std::to_string(getpid()) + "_" +
            std::to_string(number++) + ".toml";
    std::ofstream(path_) << text;
  }
  ~machine_file() { std::remove(path_.c_str()); }
  machine_file(const machine_file&) = delete;
  machine_file& operator=(const machine_file&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

inline std::string crossbar() {
  return std::string(machine_table) + network_table + memory_table + cost_table;
}

inline void simulate(const std::string& text, int ranks, const std::function<void(team&)>& body) {
  const machine_file file(text);
  run_options options;
  options.transport = "simulated";
  options.ranks = ranks;
  options.machine = file.path();
  runtime(options).run(body);
}

}  // namespace longshore::simulated_tests
