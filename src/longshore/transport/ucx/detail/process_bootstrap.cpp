// Chooses MPI or PMIx by LONGSHORE_UCX_START. Also has the wait and the abort that both share.
#include <longshore/core/clock.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/failing_exit.hpp>
#include <longshore/transport/ucx/detail/process_bootstrap.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/ucx/detail/mpi_bootstrap.hpp>
#endif
#ifdef LONGSHORE_HAVE_PMIX
#include <longshore/transport/ucx/detail/pmix_bootstrap.hpp>
#endif

#include <fmt/core.h>

#include <sched.h>

#include <cstdio>

namespace longshore::ucx {

std::unique_ptr<process_bootstrap> process_bootstrap::join(
    [[maybe_unused]] double timeout_seconds) {
#ifdef LONGSHORE_HAVE_MPI
  const std::string start = environment_text("LONGSHORE_UCX_START").value_or("mpi");
  if (start == "mpi") return std::make_unique<mpi_bootstrap>(timeout_seconds);
#else
  const std::string start = environment_text("LONGSHORE_UCX_START").value_or("pmix");
  if (start == "mpi")
    fail(errc::unsupported,
         "LONGSHORE_UCX_START is 'mpi': this Longshore was built without MPI; use pmix");
#endif
  if (start != "pmix")
    fail(errc::usage,
         "LONGSHORE_UCX_START is '{}': it must be mpi or pmix, by which the processes of ucx find "
         "each other",
         start);
#ifdef LONGSHORE_HAVE_PMIX
  return std::make_unique<pmix_bootstrap>(timeout_seconds);
#else
  fail(errc::unsupported,
       "LONGSHORE_UCX_START is 'pmix': this Longshore was built without the headers of PMIx "
       "(libpmix-dev)");
#endif
}

void process_bootstrap::pause(double began_seconds) {
  progress_();
  if (const double waited = monotonic_seconds() - began_seconds;
      deadline_seconds_ > 0 && waited > deadline_seconds_)
    fail(errc::timeout,
         "waited {:.1f} s for the other ranks at the start or the end of the run: one is stuck, or "
         "gone (LONGSHORE_TIMEOUT)",
         waited);
  sched_yield();
}

void process_bootstrap::abort(const std::exception_ptr& failure) {
  fmt::print(stderr, "longshore: rank {} of {}: {}\n", rank_, size_, failure_text(failure));
  std::fflush(nullptr);
  abort(runtime_failure_status);
}

}  // namespace longshore::ucx
