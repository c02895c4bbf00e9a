// The profile: the measurements of strategy auto as lines of text, which later runs read. A line
// has the time of one choice for one number of requests. Lines of other machines and library
// versions are kept and not used.
#pragma once

#include <longshore/gather/detail/tuning/choice.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// The conditions of a measurement.
struct profile_key {
  /// gather, scatter, update, or update-copies: an update of a table of which each rank can have a
  /// copy. Followed by -between-hosts if ranks are on several hosts, because other choices are
  /// measured there.
  std::string operation;
  std::string table;  ///< L1, L2, LLC or memory: the smallest cache that the table of a host fits
  std::size_t element_bytes = 8;  ///< a power of two, at least 8
  gather_layout layout;
  bool combine = false;
  /// The columns of a line that name these conditions.
  [[nodiscard]] std::string text() const;
};

/// All known measurements of one machine.
class tuning_profile {
 public:
  /// `machine`: the word without blanks that marks lines of this machine.
  explicit tuning_profile(std::string machine = "?") : machine_(std::move(machine)) {}

  /// Adds the lines of `text`. Lines of other machines are kept unchanged; invalid lines and
  /// measurements with missing lines are dropped. If `text` is not a profile of this version, adds
  /// nothing and returns false.
  bool read(std::string_view text);
  /// All lines, newest last. Old lines of other machines are left out if the text would exceed
  /// max_text_bytes.
  [[nodiscard]] std::string text() const;

  /// The measurements for `key`; empty if there are none.
  [[nodiscard]] std::vector<timed_choice> find(const profile_key& key) const;
  /// Replaces the measurements for `key`.
  void put(const profile_key& key, std::vector<timed_choice> measured);

  [[nodiscard]] const std::string& machine() const noexcept { return machine_; }

  static constexpr std::string_view first_line = "longshore-gather-profile 1";
  static constexpr std::size_t max_text_bytes = std::size_t{1} << 20;

 private:
  struct entry {
    std::string key;  // profile_key::text()
    std::vector<timed_choice> measured;
  };
  void put(const std::string& key, std::vector<timed_choice> measured);

  std::string machine_;
  std::vector<entry> entries_;
  std::vector<std::string> foreign_lines_;  // of other machines
};

// The profile is the file $LONGSHORE_PROFILE or, without that variable, a file per machine in the
// user's cache folder.

/// Describes machine and library: processor, cores that this process may use, last-level caches,
/// Longshore's version and compilation, the transport and its library. Measurements are valid for
/// runs with the same description.
[[nodiscard]] std::string machine_description(std::string_view transport, std::string_view library);
/// A short word for a machine_description, for lines and file names.
[[nodiscard]] std::string machine_id(std::string_view description);

struct profile_location {
  /// LONGSHORE_PROFILE is "off": nothing is measured, read or written.
  bool off = false;
  /// If empty, measurements are kept for this run only.
  std::filesystem::path file;
};
[[nodiscard]] profile_location locate_profile(std::string_view machine);

/// Adds the content of `file` to `profile`. Does nothing if the file is not a readable profile.
void read_profile(const std::filesystem::path& file, tuning_profile& profile);

/// Adds the measurements of `profile` to `file`, by writing and renaming a temporary file; keeps
/// measurements for other keys. Returns the reason if that is impossible, or nothing. A file that
/// is not a profile is left unchanged. If two processes write at the same time, one of the two
/// complete files remains.
[[nodiscard]] std::optional<std::string> write_profile(const std::filesystem::path& file,
                                                       const tuning_profile& profile);

}  // namespace longshore::detail
