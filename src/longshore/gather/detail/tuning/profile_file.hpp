// The file of strategy auto's profile: $LONGSHORE_PROFILE, else a file per machine in the user's
// cache folder.
#pragma once

#include <longshore/gather/detail/tuning/profile.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace longshore::detail {

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
