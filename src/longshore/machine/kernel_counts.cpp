#include <longshore/machine/kernel_counts.hpp>

#include <sys/resource.h>

namespace longshore {
namespace {

kernel_counts counts_of(int who) noexcept {
  rusage usage{};
  getrusage(who, &usage);
  return {
      {static_cast<std::uint64_t>(usage.ru_minflt), static_cast<std::uint64_t>(usage.ru_majflt)},
      static_cast<std::uint64_t>(usage.ru_nvcsw),
      static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

}  // namespace

kernel_counts thread_counts() noexcept { return counts_of(RUSAGE_THREAD); }
kernel_counts process_counts() noexcept { return counts_of(RUSAGE_SELF); }

}  // namespace longshore
