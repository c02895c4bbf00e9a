// Parses a command line. Each option has a name, a default, and a range of allowed numbers or a
// list of allowed words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

struct option {
  std::string name;             ///< as typed, without dashes
  std::string value;            ///< the default, or the given value
  std::string help;             ///< one line
  double low = 0, high = 1e15;  ///< the range of a number
  bool is_whole = true;         ///< whether a number has no fraction
  /// the allowed words; empty if the option is a number
  std::vector<std::string> words = {};
};

class command_line {
 public:
  /// Reads `--name value` and `--name=value`. Throws longshore::error (usage); the message has the
  /// option, the given value and the allowed ones.
  command_line(int argc, const char* const* argv, std::vector<option> options);

  /// These three REQUIRE an option of that name and kind.
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
