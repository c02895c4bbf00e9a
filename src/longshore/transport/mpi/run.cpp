// Starts and ends MPI, and runs a program with a team of all processes or of a communicator.
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/mpi/run.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace longshore::mpi {

namespace {

struct mpi_state {
  mpi_state() {
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
  }
  int initialised = 0, finalised = 0;
};

}  // namespace

environment::environment() {
  const mpi_state state;
  if (state.finalised != 0)
    fail(errc::usage,
         "MPI has been finalised and cannot be started again in this process: keep one "
         "longshore::runtime for all runs");
  if (state.initialised != 0) return;
  int provided = 0;  // not checked, because only the rank's own thread calls MPI
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  owns_mpi_ = true;
}

environment::~environment() {
  if (owns_mpi_) MPI_Finalize();
}

bool is_launched() noexcept {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
                           "MPI_LOCALRANKID", "SMPI_GLOBAL_SIZE"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

namespace {

[[noreturn]] void end_run(team* team, const std::string& failure) {
  if (team != nullptr) team->abort_run(failure);
  fmt::print(stderr, "longshore: {}\n", failure);
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
  std::unique_ptr<team> ranks;
  try {
    ranks = team::make(*static_cast<const MPI_Comm*>(communicator), options);
    if (options.ranks > 0 && options.ranks != ranks->size())
      fail(errc::usage,
           "{} ranks requested, but the launcher started {}: give the number to the launcher "
           "(mpirun -n {})",
           options.ranks, ranks->size(), options.ranks);
    const pinned binding(options.pin && ranks->waiting().spin ? ranks->cpus().front() : -1);
    body(*ranks);
    ranks->checked_barrier({collective::end_of_run});
  } catch (...) {
    end_run(ranks.get(), failure_text(std::current_exception()));
  }
}

std::shared_ptr<longshore::team> join(const void* communicator, const run_options& options) {
  struct owner {
    std::optional<environment> mpi;  // empty if the program passed a communicator, and so owns MPI
    std::unique_ptr<mpi::team> team;
  };
  const auto joined = std::make_shared<owner>();
  MPI_Comm ranks = MPI_COMM_WORLD;
  if (communicator == nullptr) {
    joined->mpi.emplace();
  } else {
    const mpi_state state;
    if (state.initialised == 0 || state.finalised != 0)
      fail(errc::usage, "a team of an MPI communicator: MPI {}",
           state.initialised == 0 ? "has not been initialised" : "has been finalised");
    ranks = *static_cast<const MPI_Comm*>(communicator);
  }
  joined->team = team::make(ranks, options);
  return {joined, joined->team.get()};
}

}  // namespace longshore::mpi
