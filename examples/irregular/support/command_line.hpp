// Parses the command lines of the example programs. An option has a default, and a range of allowed
// numbers or a list of allowed words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct option {
  std::string name;   ///< as typed, without dashes
  std::string value;  ///< the default, or the given value
  std::string help;
  double low = 0, high = 1e15;  ///< the range of a number
  bool is_whole = true;         ///< whether a number has no fraction
  /// The allowed words. Empty if the option is a number.
  std::vector<std::string> words = {};
};

class command_line {
 public:
  /// Reads `--name value` and `--name=value`. Throws longshore::error (usage); the message names
  /// the option, the given value and the allowed values.
  command_line(int argc, const char* const* argv, std::vector<option> options);

  // whole(), number() and word() REQUIRE an option of this name and kind.
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
