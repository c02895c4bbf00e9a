// Reads the command line, and then measures, lists or prints what it requests.
#include "commands/run_program.hpp"

#include "commands/command_line.hpp"
#include "commands/list.hpp"
#include "commands/measure.hpp"
#include "commands/run_command.hpp"

#include <fmt/core.h>

namespace longshore::bench {

int run_program(int argc, char** argv, std::span<const pattern> patterns) {
  return run_command([&]() -> int {
    const request asked = parse_command_line(argc, argv, patterns);
    if (asked.requested == request::action::measure) return measure(asked, {argv, argv + argc});
    const bool lists = asked.requested == request::action::list;
    if (is_first_process()) fmt::print("{}", lists ? listing(patterns).dump(1) + "\n" : asked.text);
    return all_right;
  });
}

}  // namespace longshore::bench
