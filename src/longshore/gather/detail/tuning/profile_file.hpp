// The file of the profile of strategy auto: $LONGSHORE_PROFILE, else a file per machine in the
// user's cache.
#pragma once

#include <longshore/gather/detail/tuning/profile.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace longshore::detail {

/// Describes machine and library: processor, cores that this process may use, last-level caches;
/// Longshore's version and how it was compiled; the transport and its library. Measurements are
/// valid for one such description.
[[nodiscard]] std::string machine_description(std::string_view transport, std::string_view library);
/// A short word for a description, for lines and file names.
[[nodiscard]] std::string machine_word(std::string_view description);

struct profile_place {
  bool off = false;            ///< LONGSHORE_PROFILE=off: nothing is measured, read or written
  std::filesystem::path file;  ///< empty: none; measurements are kept for this run only
};
[[nodiscard]] profile_place find_profile(std::string_view machine);

/// Adds the content of `file` to `profile`; nothing if it cannot be read or is not a profile.
void read_profile(const std::filesystem::path& file, tuning_profile& profile);

/// Merges `profile` into `file`: writes a new file beside it and renames that, keeping what others
/// wrote for other keys. Returns why that was impossible, or nothing. A file that is not a profile
/// is left unchanged. If two processes write at once, one of the two whole files remains.
[[nodiscard]] std::optional<std::string> write_profile(const std::filesystem::path& file,
                                                       const tuning_profile& profile);

}  // namespace longshore::detail
