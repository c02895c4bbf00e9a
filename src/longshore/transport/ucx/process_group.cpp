#include <longshore/core/clock.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/process_group.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/ucx/mpi_group.hpp>
#endif
#ifdef LONGSHORE_HAVE_PMIX
#include <longshore/transport/ucx/pmix_group.hpp>
#endif

#include <fmt/core.h>

#include <sched.h>

#include <cstdio>

namespace longshore::ucx {

std::unique_ptr<process_group> process_group::join([[maybe_unused]] double timeout_seconds) {
#ifdef LONGSHORE_HAVE_MPI
  const std::string starter = environment_text("LONGSHORE_UCX_START").value_or("mpi");
  if (starter == "mpi") return std::make_unique<mpi_group>(timeout_seconds);
#else
  const std::string starter = environment_text("LONGSHORE_UCX_START").value_or("pmix");
  if (starter == "mpi")
    fail(errc::unsupported,
         "LONGSHORE_UCX_START is 'mpi': this Longshore was built without MPI, only PMIx can start "
         "ucx (pmix)");
#endif
  if (starter != "pmix")
    fail(errc::usage,
         "LONGSHORE_UCX_START is '{}': it is mpi or pmix, by which the processes of ucx find each "
         "other",
         starter);
#ifdef LONGSHORE_HAVE_PMIX
  return std::make_unique<pmix_group>(timeout_seconds);
#else
  fail(errc::unsupported,
       "LONGSHORE_UCX_START is 'pmix': this Longshore was built without the headers of PMIx "
       "(libpmix-dev)");
#endif
}

void process_group::pause(double began_seconds) {
  progress_();
  if (const double waited = monotonic_seconds() - began_seconds;
      deadline_seconds_ > 0 && waited > deadline_seconds_)
    fail(errc::timeout,
         "{:.1f} s at the start or the end of the run waited for the other ranks: one is stuck, or "
         "gone (LONGSHORE_TIMEOUT)",
         waited);
  sched_yield();
}

void process_group::end_all(const std::exception_ptr& why) {
  fmt::print(stderr, "longshore: rank {} of {}: {}\n", rank_, size_, failure_text(why));
  std::fflush(nullptr);
  end_all(3);
}

}  // namespace longshore::ucx
