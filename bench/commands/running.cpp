// Prints texts, plans and errors of commands on the process that is to print them.
#include "commands/running.hpp"

#include <longshore/core/launcher.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <thread>

namespace longshore::bench {

int run_command(const std::function<int()>& command, const std::string& prefix) {
  try {
    const int status = command();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
    fmt::print(stderr, "longshore-bench: standard output cannot be written: {}\n",
               std::strerror(errno));
    return status == all_right ? runtime_failure : status;
  } catch (const error& e) {
    print_error(prefix + e.what());
    const bool nothing = e.code() == errc::usage || e.code() == errc::unsupported;
    return nothing ? nothing_ran : runtime_failure;
  } catch (const std::exception& e) {
    print_error(prefix + e.what());
    return runtime_failure;
  }
}

int print_text(const std::string& text) {
  if (is_first_process()) fmt::print("{}", text);
  return all_right;
}

int print_plan(const std::string& json_file, const json& plan, const std::string& table) {
  const std::string text = plan.dump(1) + "\n";
  if (json_file == "-")
    fmt::print("{}", text);
  else if (!json_file.empty() && !(std::ofstream(json_file) << text << std::flush))
    fail(errc::usage, "--json: '{}' cannot be written", json_file);
  fmt::print(json_file == "-" ? stderr : stdout, "{}", table);
  return all_right;
}

bool is_first_process() {
  const auto processes = launched();
  return !processes || processes->rank == 0;
}

int processes_launched() {
  const auto processes = launched();
  return processes ? processes->count : 0;
}

bool ranks_are_processes(const std::string& transport) {
  return transport.empty() ? processes_launched() > 0 : !detail::is_one_process(transport);
}

void print_error(const std::string& message) {
  constexpr auto time_to_print = std::chrono::seconds(2);
  if (is_first_process())
    fmt::print(stderr, "longshore-bench: {}\n", message);
  else
    std::this_thread::sleep_for(time_to_print);
}

}  // namespace longshore::bench
