/* A C program that initialises MPI makes teams from communicators of all ranks and of some ranks,
 * and uses these teams beside MPI calls. */
#include "checked.h"
#include "longshore_mpi.h"

static int use(MPI_Comm part, int fortran) {
  longshore_team* team = NULL;
  if (fortran)
    CHECK_OK(longshore_init_mpi_fortran(MPI_Comm_c2f(part), &team));
  else
    CHECK_OK(longshore_init_mpi(part, &team));
  int rank = 0, size = 0;
  MPI_Comm_rank(part, &rank);
  MPI_Comm_size(part, &size);
  CHECK(longshore_team_rank(team) == rank && longshore_team_size(team) == size);
  CHECK(strcmp(longshore_team_transport(team), "mpi") == 0);
  int64_t sum = rank, own = rank;
  CHECK_OK(longshore_allreduce(team, &sum, 1, LONGSHORE_INT64, LONGSHORE_SUM));
  MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_SUM, part);
  CHECK(sum == own);
  longshore_array* left = NULL; /* freed with the team */
  CHECK_OK(longshore_array_create(team, LONGSHORE_FLOAT64, 0, 100, NULL, &left));
  CHECK_OK(longshore_finalize(team));
  return LONGSHORE_OK;
}

static int program(void) {
  longshore_team* team = NULL;
  CHECK_REFUSED(longshore_init_mpi(MPI_COMM_WORLD, &team), LONGSHORE_ERROR_USAGE,
                "before the start of MPI");
  MPI_Init(NULL, NULL);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK_REFUSED(longshore_init_mpi(MPI_COMM_NULL, &team), LONGSHORE_ERROR_USAGE, "MPI_COMM_NULL");
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  CHECK(use(MPI_COMM_WORLD, 0) == LONGSHORE_OK);
  CHECK(use(part, 1) == LONGSHORE_OK);
  MPI_Comm_free(&part);
  CHECK(use(MPI_COMM_WORLD, 1) == LONGSHORE_OK);
  MPI_Finalize();
  return LONGSHORE_OK;
}

int main(void) { return program() == LONGSHORE_OK ? 0 : 1; }
