// Makes teams from communicators of a program that initialises MPI itself, and aborts MPI for
// longshore_end(). Only builds with MPI compile this file.
#include "longshore_mpi.h"

#include "handles.hpp"

#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/mpi/team.hpp>

void longshore::bindings::abort_mpi(int status) {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (initialised != 0 && finalised == 0) MPI_Abort(MPI_COMM_WORLD, status);
}

extern "C" {

using namespace longshore;
using namespace longshore::bindings;

int longshore_init_mpi(MPI_Comm ranks, longshore_team** team) {
  return guarded([&] {
    required(team, "the pointer for the team");
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    if (initialised == 0 || finalised != 0)
      fail(errc::usage,
           "a team of a communicator {} MPI: initialise MPI before this call, and finalise it "
           "after longshore_finalize",
           initialised == 0 ? "before the start of" : "after the end of");
    if (ranks == MPI_COMM_NULL)
      fail(errc::usage,
           "a team of MPI_COMM_NULL: only the ranks of a communicator may make this call");
    const run_options options = options_from_environment();
    *team = new longshore_team(mpi::team::make(ranks, options));
  });
}

int longshore_init_mpi_fortran(MPI_Fint ranks, longshore_team** team) {
  // MPI_Comm_f2c needs an initialised MPI. Without it, longshore_init_mpi fails before it looks at
  // the communicator.
  int initialised = 0;
  MPI_Initialized(&initialised);
  return longshore_init_mpi(initialised != 0 ? MPI_Comm_f2c(ranks) : MPI_COMM_NULL, team);
}
}
