/* A C program that initialises MPI makes teams from communicators of all ranks and of some ranks,
 * and uses these teams beside MPI calls. */
#include "checked.h"
#include "longshore_mpi.h"

static int use(MPI_Comm part, int fortran) {
  longshore_team* team = NULL;
  if (fortran)
    CHECK_OK(longshore_join_fortran(MPI_Comm_c2f(part), NULL, &team));
  else
    CHECK_OK(longshore_join(part, NULL, &team));
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

static longshore_team* team_of(MPI_Comm communicator) {
  longshore_team* team = NULL;
  return longshore_join(communicator, NULL, &team) == LONGSHORE_OK ? team : NULL;
}

/* Compares the shape, the coordinates and the neighbours of a grid with those of MPI. */
static int check_grid(MPI_Comm cart, int dimensions, const int* shape, int reversed) {
  longshore_team* const team = team_of(cart);
  longshore_grid* grid = NULL;
  CHECK_OK(reversed ? longshore_grid_create_cart(team, cart, "reversed", &grid)
                    : longshore_grid_create_cart_fortran(team, MPI_Comm_c2f(cart), NULL, &grid));
  int coordinates[3], found[3], here[3];
  longshore_grid_shape(grid, found);
  longshore_grid_coordinates(grid, coordinates);
  MPI_Cart_coords(cart, longshore_team_rank(team), dimensions, here);
  CHECK(longshore_grid_dimensions(grid) == dimensions);
  for (int direction = 0; direction < dimensions; ++direction) {
    const int d = reversed ? dimensions - 1 - direction : direction;
    int below = 0, above = 0, up[3] = {0, 0, 0}, down[3] = {0, 0, 0};
    up[d] = 1, down[d] = -1;
    MPI_Cart_shift(cart, direction, 1, &below, &above);
    CHECK(found[d] == shape[direction] && coordinates[d] == here[direction]);
    CHECK(longshore_grid_neighbour(grid, up) == (above == MPI_PROC_NULL ? -1 : above));
    CHECK(longshore_grid_neighbour(grid, down) == (below == MPI_PROC_NULL ? -1 : below));
  }
  CHECK_OK(longshore_finalize(team));
  return LONGSHORE_OK;
}

static int check_grids(void) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int shapes[4][3] = {{size, 0, 0}, {1, size, 0}, {1, size, 1}, {size, 1, 1}};
  const int dimensions[4] = {1, 2, 3, 3}, periods[4][3] = {{1}, {0, 0}, {1, 0, 1}, {1, 1, 0}};
  for (int i = 0; i < 4; ++i) {
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, dimensions[i], shapes[i], periods[i], 0, &cart);
    for (int reversed = 0; reversed < 2; ++reversed)
      CHECK(check_grid(cart, dimensions[i], shapes[i], reversed) == LONGSHORE_OK);
    MPI_Comm_free(&cart);
  }
  /* In a reordered grid, a rank may have another number. */
  longshore_team* const team = team_of(MPI_COMM_WORLD);
  longshore_grid* grid = NULL;
  CHECK_REFUSED(longshore_grid_create_cart(team, MPI_COMM_WORLD, NULL, &grid),
                LONGSHORE_ERROR_USAGE, "MPI_Cart_create");
  CHECK_REFUSED(longshore_grid_create_cart(team, MPI_COMM_NULL, NULL, &grid), LONGSHORE_ERROR_USAGE,
                "MPI_COMM_NULL");
  CHECK_REFUSED(longshore_grid_create_cart(team, MPI_COMM_WORLD, "sideways", &grid),
                LONGSHORE_ERROR_USAGE, "sideways");
  CHECK_OK(longshore_finalize(team));
  return LONGSHORE_OK;
}

static int check_options(void) {
  const struct longshore_team_options few = {.ranks_per_node = 1, .timeout_seconds = 60};
  longshore_team* team = NULL;
  CHECK_OK(longshore_join(MPI_COMM_WORLD, &few, &team));
  CHECK(longshore_team_nodes(team) == longshore_team_size(team));
  CHECK_OK(longshore_finalize(team));
  const struct longshore_team_options wrong[] = {
      {.ranks_per_node = -2}, {.timeout_seconds = -0.5}, {.check_calls = 2}, {.reserved = {0, 1}}};
  const char* const words[] = {"ranks per node", "timeout", "check_calls", "initialise all"};
  for (int i = 0; i < 4; ++i)
    CHECK_REFUSED(longshore_join(MPI_COMM_WORLD, &wrong[i], &team), LONGSHORE_ERROR_USAGE,
                  words[i]);
  return LONGSHORE_OK;
}

static int program(void) {
  longshore_team* team = NULL;
  CHECK_REFUSED(longshore_join(MPI_COMM_WORLD, NULL, &team), LONGSHORE_ERROR_USAGE,
                "before MPI_Init");
  MPI_Init(NULL, NULL);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK_REFUSED(longshore_join(MPI_COMM_NULL, NULL, &team), LONGSHORE_ERROR_USAGE, "MPI_COMM_NULL");
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
  CHECK(use(MPI_COMM_WORLD, 0) == LONGSHORE_OK);
  CHECK(use(part, 1) == LONGSHORE_OK);
  MPI_Comm_free(&part);
  CHECK(use(MPI_COMM_WORLD, 1) == LONGSHORE_OK);
  CHECK(check_options() == LONGSHORE_OK);
  CHECK(check_grids() == LONGSHORE_OK);
  MPI_Finalize();
  CHECK_REFUSED(longshore_join(MPI_COMM_WORLD, NULL, &team), LONGSHORE_ERROR_USAGE,
                "after MPI_Finalize");
  return LONGSHORE_OK;
}

int main(void) { return program() == LONGSHORE_OK ? 0 : 1; }
