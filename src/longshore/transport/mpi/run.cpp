// Starts and ends MPI, and runs a program with a team of all processes or of a communicator.
#include <longshore/core/failing_exit.hpp>
#include <longshore/core/launcher.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/long_tcp_segments.hpp>
#include <longshore/transport/mpi/detail/team.hpp>
#include <longshore/transport/mpi/lifetime.hpp>
#include <longshore/transport/mpi/run.hpp>

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace longshore::mpi {

namespace {

void require_launch() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  require_launch_of("MPI", ranks);
}

// Throws errc::usage unless a team can be made of the communicator.
void check_communicator(MPI_Comm ranks) {
  switch (state_of_mpi()) {
    case mpi_state::not_started:
      fail(errc::usage, "a team of an MPI communicator before MPI_Init: initialise MPI first");
    case mpi_state::ended:
      fail(errc::usage,
           "a team of an MPI communicator after MPI_Finalize: make, use and end all teams before "
           "MPI_Finalize");
    case mpi_state::running: break;
  }
  int rank = 0, is_inter = 0;
  require_launch();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (ranks == MPI_COMM_NULL)
    fail(errc::usage,
         "rank {} of MPI_COMM_WORLD: a team of MPI_COMM_NULL: this rank is not in the "
         "communicator, or has freed it; only its ranks make the call",
         rank);
  check(MPI_Comm_test_inter(ranks, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    fail(errc::usage,
         "rank {} of MPI_COMM_WORLD: a team of an inter-communicator, which has two groups of "
         "ranks: join them by MPI_Intercomm_merge, and pass the result",
         rank);
}

}  // namespace

environment::environment() {
  const mpi_state state = state_of_mpi();
  if (state == mpi_state::ended)
    fail(errc::usage,
         "MPI has been finalised and cannot be started again in this process: keep one "
         "longshore::runtime for all runs");
  if (state == mpi_state::not_started) {
    longshore::detail::use_long_tcp_segments();
    int provided = 0;  // not checked, because only the rank's own thread calls MPI
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    owns_mpi_ = true;
  }
  require_launch();
}

environment::~environment() {
  if (owns_mpi_ && state_of_mpi() == mpi_state::running) MPI_Finalize();
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

std::shared_ptr<longshore::team> join(const run_options& options) {
  struct owner {
    environment mpi;
    std::unique_ptr<mpi::team> team = nullptr;
  };
  const auto joined = std::make_shared<owner>();
  joined->team = team::make(MPI_COMM_WORLD, options);
  return {joined, joined->team.get()};
}

std::shared_ptr<longshore::team> join(const void* communicator, const char* headers,
                                      const run_options& options) {
  check_headers(headers);  // first: the communicator of another library may be smaller
  const MPI_Comm ranks = *static_cast<const MPI_Comm*>(communicator);
  check_communicator(ranks);
  return team::make(ranks, options);
}

}  // namespace longshore::mpi
