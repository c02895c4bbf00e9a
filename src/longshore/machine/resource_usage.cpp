// Reads page faults and context switches by getrusage.
#include <longshore/machine/resource_usage.hpp>

#include <sys/resource.h>

namespace longshore {
namespace {

resource_usage usage_of(int who) noexcept {
  rusage read{};
  getrusage(who, &read);
  return {{static_cast<std::uint64_t>(read.ru_minflt), static_cast<std::uint64_t>(read.ru_majflt)},
          static_cast<std::uint64_t>(read.ru_nvcsw),
          static_cast<std::uint64_t>(read.ru_nivcsw)};
}

}  // namespace

resource_usage thread_usage() noexcept { return usage_of(RUSAGE_THREAD); }
resource_usage process_usage() noexcept { return usage_of(RUSAGE_SELF); }

}  // namespace longshore
