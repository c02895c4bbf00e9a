// Makes teams from communicators of a program that initialises MPI itself, and aborts MPI for
// longshore_end(). Only builds with MPI compile this file.
#include "longshore_mpi.h"

#include "fortran_mpi.hpp"
#include "handles.hpp"

#include <longshore/mpi.hpp>
#include <longshore/transport/mpi/lifetime.hpp>

using namespace longshore;
using namespace longshore::bindings;

void longshore::bindings::abort_mpi(int status) {
  if (mpi::state_of_mpi() == mpi::mpi_state::running) MPI_Abort(MPI_COMM_WORLD, status);
}

namespace {

run_options options_of(const longshore_team_options* given) {
  run_options options;
  if (given == nullptr) return options;
  check_reserved(given->reserved, "longshore_team_options");
  if (given->ranks_per_node < -1)
    fail(errc::usage,
         "a team with {} ranks per node: use 1 or more, 0 for the choice of the environment, or -1 "
         "for real nodes",
         given->ranks_per_node);
  if (!(given->timeout_seconds >= 0) && given->timeout_seconds != -1)
    fail(errc::usage,
         "a team with a timeout of {} seconds: use more than 0, 0 for the choice of the "
         "environment, or -1 for no deadline",
         given->timeout_seconds);
  if (given->check_calls < -1 || given->check_calls > 1)
    fail(errc::usage, "a team with check_calls {}: it is 1, 0 or -1", given->check_calls);
  if (given->ranks_per_node != 0) options.ranks_per_node = std::max(given->ranks_per_node, 0);
  if (given->timeout_seconds != 0) options.timeout_seconds = std::max(given->timeout_seconds, 0.0);
  if (given->check_calls != 0) options.check_calls = given->check_calls > 0;
  return options;
}

}  // namespace

extern "C" {

int longshore_join(MPI_Comm communicator, const struct longshore_team_options* options,
                   longshore_team** team) {
  const int code = guarded([&] {
    required(team, "the pointer for the team") = nullptr;
    *team = new longshore_team(join(communicator, options_of(options)));
  });
  remember_join(code != LONGSHORE_OK);
  return code;
}

int longshore_join_fortran(MPI_Fint communicator, const struct longshore_team_options* options,
                           longshore_team** team) {
  return longshore_join(from_fortran(communicator), options, team);
}
}
