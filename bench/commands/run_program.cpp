// Reads the command line, and then measures, lists or prints what it requests. Turns exceptions
// into messages and exit statuses.
#include "commands/run_program.hpp"

#include <longshore/core/error.hpp>

#include "commands/command_line.hpp"
#include "commands/exit_status.hpp"
#include "commands/list.hpp"
#include "commands/measure.hpp"
#include "commands/started_processes.hpp"

#include <fmt/core.h>

#include <exception>

namespace longshore::bench {

int run_program(int argc, char** argv, std::span<const pattern> patterns) {
  try {
    const request asked = parse_command_line(argc, argv, patterns);
    if (asked.requested == request::action::measure) return measure(asked, {argv, argv + argc});
    const bool lists = asked.requested == request::action::list;
    if (is_first_process()) fmt::print("{}", lists ? listing(patterns).dump(1) + "\n" : asked.text);
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
