#include "commands/run_program.hpp"

#include <longshore/core/error.hpp>

#include "commands/command_line.hpp"
#include "commands/list.hpp"
#include "commands/measure.hpp"
#include "commands/started_processes.hpp"

#include <fmt/core.h>

#include <exception>

namespace longshore::bench {

int run_program(int argc, char** argv, std::span<const pattern> patterns) {
  try {
    const request asked = parse_command_line(argc, argv, patterns);
    if (asked.what == request::kind::run) return measure(asked, {argv, argv + argc});
    if (is_first_process())
      fmt::print("{}",
                 asked.what == request::kind::list ? listing(patterns).dump(1) + "\n" : asked.text);
    return all_right;
  } catch (const error& e) {
    print_error(e.what());
    return e.code() == errc::usage || e.code() == errc::unsupported ? nothing_ran : runtime_failure;
  } catch (const std::exception& e) {
    print_error(e.what());
    return runtime_failure;
  }
}

}  // namespace longshore::bench
