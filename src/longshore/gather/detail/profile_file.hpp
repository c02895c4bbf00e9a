// Where the profile of strategy auto lies: $LONGSHORE_PROFILE, else a file per machine in the
// user's cache.
#pragma once

#include <longshore/gather/detail/profile.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace longshore::detail {

/// The machine and the library, in words: processor, cores that this process may use, last-level
/// caches; Longshore's version and how it was compiled; the transport and its library. A
/// measurement is good for one of these.
[[nodiscard]] std::string machine_description(std::string_view transport, std::string_view library);
/// The same as a short word for lines and file names.
[[nodiscard]] std::string machine_word(std::string_view description);

struct profile_place {
  bool off = false;            ///< LONGSHORE_PROFILE=off: nothing is measured, read or written
  std::filesystem::path file;  ///< empty: there is no place; what is measured serves this run
};
[[nodiscard]] profile_place find_profile(std::string_view machine);

/// Adds what `file` holds to `profile`; nothing where it cannot be read or is no profile.
void read_profile(const std::filesystem::path& file, gather_profile& profile);

/// Writes `profile` beside `file` and renames it, with what others wrote there meanwhile for other
/// keys. Why it could not be done, or nothing. A file that is no profile is left as it is. Two that
/// write at once: one of them wins, whole.
[[nodiscard]] std::optional<std::string> write_profile(const std::filesystem::path& file,
                                                       const gather_profile& profile);

}  // namespace longshore::detail
