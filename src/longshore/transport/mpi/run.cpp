#include <longshore/machine/affinity.hpp>
#include <longshore/transport/mpi/run.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace longshore::mpi {

environment::environment() : own_(false) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (finalised != 0)
    fail(errc::usage,
         "MPI has been finalised and cannot be started again in this process: keep one "
         "longshore::runtime for all runs");
  if (initialised != 0) return;
  int provided = 0;  // not checked: only the rank's own thread calls MPI
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  own_ = true;
}

environment::~environment() {
  if (own_) MPI_Finalize();
}

bool is_launched() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
                           "MPI_LOCALRANKID", "SMPI_GLOBAL_SIZE"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

namespace {

[[noreturn]] void end(team* mine, const std::string& why) {
  if (mine != nullptr) mine->abort_run(why);
  fmt::print(stderr, "longshore: {}\n", why);
  std::fflush(nullptr);
  MPI_Abort(MPI_COMM_WORLD, runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

}  // namespace

void run(const run_options& options, const std::function<void(longshore::team&)>& body) {
  const environment mpi;
  const MPI_Comm world = MPI_COMM_WORLD;
  run(&world, options, body);
}

void run(const void* communicator, const run_options& options,
         const std::function<void(longshore::team&)>& body) {
  std::unique_ptr<team> mine;
  try {
    mine = team::make(*static_cast<const MPI_Comm*>(communicator), options);
    if (options.ranks > 0 && options.ranks != mine->size())
      fail(errc::usage,
           "{} ranks requested, but the launcher started {}: give the number to the launcher "
           "(mpirun -n {})",
           options.ranks, mine->size(), options.ranks);
    const pinned binding(options.pin && mine->waiting().spin ? mine->cpus().front() : -1);
    body(*mine);
    mine->checked_barrier({.kind = detail::collective::end_of_run});
  } catch (...) {
    end(mine.get(), failure_text(std::current_exception()));
  }
}

std::shared_ptr<longshore::team> join(const void* communicator, const run_options& options) {
  struct member {
    std::optional<environment> mpi;  // empty if the program passed a communicator, and so owns MPI
    std::unique_ptr<team> mine;
  };
  const auto joined = std::make_shared<member>();
  MPI_Comm ranks = MPI_COMM_WORLD;
  if (communicator == nullptr) {
    joined->mpi.emplace();
  } else {
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (initialised == 0 || finalised != 0)
      fail(errc::usage, "a team of an MPI communicator: MPI {}",
           initialised == 0 ? "has not been initialised" : "has been finalised");
    ranks = *static_cast<const MPI_Comm*>(communicator);
  }
  joined->mine = team::make(ranks, options);
  return {joined, joined->mine.get()};
}

}  // namespace longshore::mpi
