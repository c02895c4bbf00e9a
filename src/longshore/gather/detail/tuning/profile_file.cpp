// Finds, reads and replaces the file of a profile. A hash of the processor, the build and the
// transport's library identifies the machine.
#include <longshore/gather/detail/tuning/profile.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <fmt/core.h>

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <system_error>

namespace longshore::detail {
namespace {

namespace fs = std::filesystem;

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") || line.starts_with("CPU part"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return "unknown processor";
}

constexpr const char* optimisation() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "sanitized";
#elif defined(__OPTIMIZE__)
  return "optimised";
#else
  return "not optimised";
#endif
}

// The text of a file, or nothing if there is no such file or the file is too large for a profile.
std::optional<std::string> text_of(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  if (const auto bytes = fs::file_size(file, ignored);
      ignored || bytes > 2 * tuning_profile::max_text_bytes)
    return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

bool may_replace(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return true;
  const auto text = text_of(file);
  constexpr std::string_view any_version =
      tuning_profile::first_line.substr(0, tuning_profile::first_line.find(' '));
  return text && (text->empty() || text->starts_with(any_version));
}

}  // namespace

std::string machine_description(std::string_view transport, std::string_view library) {
  return fmt::format("{}, {} cores, {} caches of {} bytes; Longshore {}, {} {}; {} {}",
                     processor_name(), usable_cores(), last_level_cache_count(),
                     last_level_cache_bytes(), LONGSHORE_VERSION, optimisation(), __VERSION__,
                     transport, library);
}

std::string machine_id(std::string_view description) {
  return fmt::format("{:016x}", hash_of(description));
}

profile_location locate_profile(std::string_view machine) {
  if (const auto given = environment_text("LONGSHORE_PROFILE")) {
    if (*given == "off") return {.off = true, .file = {}};
    return {.off = false, .file = *given};
  }
  const std::string name = fmt::format("gather-{}.profile", machine);
  if (const auto cache = environment_text("XDG_CACHE_HOME");
      cache && fs::path(*cache).is_absolute())
    return {.off = false, .file = fs::path(*cache) / "longshore" / name};
  if (const auto home = environment_text("HOME"); home && fs::path(*home).is_absolute())
    return {.off = false, .file = fs::path(*home) / ".cache" / "longshore" / name};
  return {};
}

void read_profile(const fs::path& file, tuning_profile& profile) {
  if (const auto text = text_of(file)) profile.read(*text);
}

std::optional<std::string> write_profile(const fs::path& file, const tuning_profile& profile) {
  if (!may_replace(file)) return fmt::format("'{}' is not a profile", file.string());
  std::error_code failed;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), failed);
  tuning_profile merged(profile.machine());
  read_profile(file, merged);
  merged.read(profile.text());
  const fs::path temporary = file.string() + fmt::format(".{}.new", ::gettid());
  bool written = false;
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    written = (out << merged.text() << std::flush).good();
  }
  if (written) fs::rename(temporary, file, failed);
  if (written && !failed) return std::nullopt;
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return fmt::format("'{}' cannot be written", file.string());
}

}  // namespace longshore::detail
