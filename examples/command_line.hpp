// The options of a command line: each has a name, a default, and a range of numbers or a list of
// words that are allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct option {
  std::string name;             ///< as typed, without dashes
  std::string value;            ///< the default, then what was typed
  std::string help;             ///< one line
  double low = 0, high = 1e15;  ///< what a number may be
  bool is_whole = true;         ///< whether a number has no fraction
  /// what else than a number is allowed; with words there are no numbers
  std::vector<std::string> words = {};
};

class command_line {
 public:
  /// Reads `--name value` and `--name=value`. Throws longshore::error (usage) whose message names
  /// the option, what was given and what is allowed.
  command_line(int argc, const char* const* argv, std::vector<option> options);

  /// REQUIRES (of all): an option of that name and kind.
  [[nodiscard]] std::uint64_t whole(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] const std::string& word(std::string_view name) const { return of(name).value; }

  [[nodiscard]] bool asks_for_help() const noexcept { return asks_for_help_; }
  /// One line per option.
  [[nodiscard]] std::string help() const;
  [[nodiscard]] const std::vector<option>& options() const noexcept { return options_; }

 private:
  [[nodiscard]] const option& of(std::string_view name) const;

  std::vector<option> options_;
  bool asks_for_help_ = false;
};

}  // namespace examples
