// Output and errors of the commands that plan and start no ranks: placement_command and
// gather_plan_command. The plan of each is a JSON object and a table with the same numbers.
#pragma once

#include <longshore/core/error.hpp>

#include "commands/exit_status.hpp"
#include "facts/json.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace longshore::bench {

/// Prints the table, and writes the plan if a file is named. If the file is "-", the plan goes to
/// standard output and the table to standard error.
inline void print_plan(const std::string& json_file, const json& plan, const std::string& table) {
  const std::string text = plan.dump(1) + "\n";
  if (json_file == "-")
    fmt::print("{}", text);
  else if (!json_file.empty() && !(std::ofstream(json_file) << text << std::flush))
    fail(errc::usage, "--json: '{}' cannot be written", json_file);
  fmt::print(json_file == "-" ? stderr : stdout, "{}", table);
}

/// Calls `plan`, prints errors, and returns the exit status.
template <class Plan>
int exit_status_of(const char* command, const Plan& plan) {
  try {
    plan();
    return all_right;
  } catch (const error& e) {
    fmt::print(stderr, "longshore-bench: {}: {}\n", command, e.what());
    return status_of(e);
  }
}

}  // namespace longshore::bench
