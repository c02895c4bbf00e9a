/* Tests the C interface on any transport: checks the result of each pattern against values that the
 * test computes itself, and checks that wrong arguments are refused. */
#include "checked.h"

#include <math.h>
#include <stdlib.h>

/* Builds with sanitizers have no arrays with elements of 4 bytes. */
#ifdef LONGSHORE_C_FEW_TYPES
enum { least_bytes = 8, short_type = LONGSHORE_INT64 };
#else
enum { least_bytes = 4, short_type = LONGSHORE_INT32 };
#endif

static int collectives(longshore_team* team) {
  const int rank = longshore_team_rank(team), size = longshore_team_size(team);
  CHECK(rank >= 0 && rank < size && longshore_team_nodes(team) >= 1);
  CHECK(strlen(longshore_team_transport(team)) > 0);
  int32_t sums[2] = {rank, 1};
  CHECK_OK(longshore_allreduce(team, sums, 2, LONGSHORE_INT32, LONGSHORE_SUM));
  CHECK(sums[0] == size * (size - 1) / 2 && sums[1] == size);
  float largest = (float)rank;
  CHECK_OK(longshore_allreduce(team, &largest, 1, LONGSHORE_FLOAT32, LONGSHORE_MAX));
  CHECK(largest == (float)(size - 1));
  uint64_t high[2] = {UINT64_MAX - (uint64_t)rank, (uint64_t)rank}, low[2] = {high[0], high[1]},
           sum[1] = {rank == 0 ? UINT64_MAX - (uint64_t)size : 1};
  /* also values above 2^63 */
  CHECK_OK(longshore_allreduce(team, high, 2, LONGSHORE_UINT64, LONGSHORE_MAX));
  CHECK(high[0] == UINT64_MAX && high[1] == (uint64_t)(size - 1));
  CHECK_OK(longshore_allreduce(team, low, 2, LONGSHORE_UINT64, LONGSHORE_MIN));
  CHECK(low[0] == UINT64_MAX - (uint64_t)(size - 1) && low[1] == 0);
  CHECK_OK(longshore_allreduce(team, sum, 1, LONGSHORE_UINT64, LONGSHORE_SUM));
  CHECK(sum[0] == UINT64_MAX - 1);
  int8_t narrow[2] = {1, 100};
  CHECK(longshore_allreduce(team, narrow, 2, LONGSHORE_INT8, LONGSHORE_SUM) ==
        (size == 1 ? LONGSHORE_OK : LONGSHORE_ERROR_USAGE));
  CHECK(narrow[0] == 1 && narrow[1] == 100); /* 100 of each of 2 ranks do not fit */
  uint64_t mixed =
      rank == 0 ? UINT64_MAX : 1; /* as int64 the first value would be below the second */
  CHECK_OK(longshore_allreduce(team, &mixed, 1, LONGSHORE_UINT64, LONGSHORE_MAX));
  CHECK(mixed == UINT64_MAX);
  const int last = size - 1;
  double order[2] = {1e16 / (rank + 1), 3.0 * rank}, in_order[2] = {1e16, 0};
  for (int r = 1; r < size; ++r) in_order[0] += 1e16 / (r + 1), in_order[1] += 3.0 * r;
  CHECK_OK(longshore_reduce(team, order, 2, LONGSHORE_FLOAT64, LONGSHORE_SUM, last));
  CHECK(rank == last ? order[0] == in_order[0] && order[1] == in_order[1]
                     : order[0] == 1e16 / (rank + 1) && order[1] == 3.0 * rank);
  int32_t count = rank + 1;
  CHECK_OK(longshore_reduce(team, &count, 1, LONGSHORE_INT32, LONGSHORE_SUM, 0));
  CHECK(count == (rank == 0 ? size * (size + 1) / 2 : rank + 1));
  mixed = UINT64_MAX - (uint64_t)rank;
  CHECK_OK(longshore_reduce(team, &mixed, 1, LONGSHORE_UINT64, LONGSHORE_MIN, last));
  CHECK(mixed == UINT64_MAX - (uint64_t)rank); /* also the result of the last rank */
  CHECK(longshore_reduce(team, narrow, 2, LONGSHORE_INT8, LONGSHORE_SUM, last) ==
        (size == 1 ? LONGSHORE_OK : LONGSHORE_ERROR_USAGE));
  CHECK(narrow[0] == 1 && narrow[1] == 100);
  CHECK_REFUSED(longshore_reduce(team, order, 1, LONGSHORE_FLOAT64, LONGSHORE_SUM, size),
                LONGSHORE_ERROR_USAGE, "the ranks are 0 to");
  int value = rank == size - 1 ? 42 : 0;
  CHECK_OK(longshore_broadcast(team, &value, sizeof value, size - 1));
  CHECK(value == 42);
  int* all = malloc((size_t)size * sizeof(int));
  int* out = malloc((size_t)size * sizeof(int));
  CHECK_OK(longshore_allgather(team, &rank, sizeof rank, all));
  for (int r = 0; r < size; ++r) CHECK(all[r] == r);
  for (int r = 0; r < size; ++r) out[r] = 100 * rank + r;
  CHECK_OK(longshore_alltoall(team, out, sizeof(int), all));
  for (int r = 0; r < size; ++r) CHECK(all[r] == 100 * r + rank);
  free(all);
  free(out);
  const double began = longshore_team_seconds(team);
  CHECK_OK(longshore_barrier(team));
  CHECK(longshore_team_seconds(team) >= began);
  CHECK_REFUSED(longshore_allreduce(team, sums, 1, 77, LONGSHORE_SUM), LONGSHORE_ERROR_USAGE,
                "LONGSHORE_INT8 (1) to");
  CHECK_REFUSED(longshore_allreduce(team, sums, 1, LONGSHORE_INT32, 9), LONGSHORE_ERROR_USAGE,
                "LONGSHORE_MIN");
  CHECK_REFUSED(longshore_broadcast(team, &value, 4, size), LONGSHORE_ERROR_USAGE,
                "the ranks are 0 to");
  CHECK_REFUSED(longshore_allreduce(team, NULL, 1, LONGSHORE_INT32, LONGSHORE_SUM),
                LONGSHORE_ERROR_USAGE, "values is NULL");
  CHECK_REFUSED(longshore_broadcast(team, NULL, 4, 0), LONGSHORE_ERROR_USAGE, "is NULL");
  CHECK_REFUSED(longshore_allgather(team, &value, 4, NULL), LONGSHORE_ERROR_USAGE, "is NULL");
  CHECK_REFUSED(longshore_alltoall(team, NULL, 4, &value), LONGSHORE_ERROR_USAGE, "is NULL");
  CHECK_OK(longshore_broadcast(team, NULL, 0, 0));
  CHECK_REFUSED(longshore_barrier(NULL), LONGSHORE_ERROR_USAGE, "the team is NULL");
  return LONGSHORE_OK;
}

/* Element i of every table is 3 i + 1, in the given type. */
static void store(void* memory, int64_t at, int64_t i, int type) {
  const double value = 3.0 * (double)i + 1;
  if (type == LONGSHORE_INT32) ((int32_t*)memory)[at] = (int32_t)value;
  if (type == LONGSHORE_INT64) ((int64_t*)memory)[at] = (int64_t)value;
  if (type == LONGSHORE_FLOAT64) ((double*)memory)[at] = value;
}
static double load(const void* memory, int64_t at, int type) {
  if (type == LONGSHORE_INT64) return (double)((const int64_t*)memory)[at];
  return type == LONGSHORE_INT32 ? (double)((const int32_t*)memory)[at]
                                 : ((const double*)memory)[at];
}

static int gather_and_scatter(longshore_team* team, int type, const char* distribution,
                              const char* strategy) {
  enum { requests = 200 };
  const int rank = longshore_team_rank(team), size = longshore_team_size(team);
  const int64_t n = 37 * size + 5;
  longshore_array* table = NULL;
  if (strcmp(distribution, "block-cyclic") == 0)
    CHECK_OK(longshore_array_create_block_cyclic(team, type, 0, n, 6, &table));
  else
    CHECK_OK(longshore_array_create(team, type, 0, n, distribution, &table));
  CHECK(longshore_array_size(table) == n);
  for (int64_t k = 0; k < longshore_array_local_size(table); ++k) {
    const int64_t index = longshore_array_index(table, k);
    int64_t offset = -1;
    CHECK(longshore_array_owner(table, index, &offset) == rank && offset == k);
    if (strcmp(distribution, "block-cyclic") == 0)
      CHECK(index / 6 % size == rank && index % 6 == k % 6);
    store(longshore_array_local(table), k, index, type);
  }
  CHECK(longshore_array_index(table, longshore_array_local_size(table)) == -1);
  CHECK(longshore_array_owner(table, n, NULL) == -1);
  CHECK_OK(longshore_barrier(team));

  int64_t indices[requests];
  double values[requests]; /* enough memory for any type */
  for (int64_t i = 0; i < requests; ++i) indices[i] = (i * 7919 + rank * 31) % n;
  struct longshore_gather_options options = {0};
  options.strategy = strategy;
  options.buffer_items = 16;
  longshore_gather_plan* plan = NULL;
  CHECK_OK(longshore_gather_create(table, &options, &plan));
  CHECK(strcmp(longshore_gather_strategy(plan), strategy) == 0);
  for (int use = 0; use < 2; ++use) {
    memset(values, 0, sizeof values);
    CHECK_OK(longshore_gather_run(plan, indices, requests, values));
    for (int64_t i = 0; i < requests; ++i)
      CHECK(load(values, i, type) == 3.0 * (double)indices[i] + 1);
  }
  CHECK_REFUSED(longshore_array_free(table), LONGSHORE_ERROR_USAGE, "still used by 1");
  CHECK_OK(longshore_gather_free(plan));

  /* Each rank writes the elements whose index modulo the number of ranks is its rank. */
  CHECK_OK(longshore_barrier(team));
  int64_t written = 0;
  for (int64_t i = rank; i < n && written < requests; i += size) indices[written++] = i;
  for (int64_t k = 0; k < written; ++k) store(values, k, -indices[k] - 1, type);
  CHECK_OK(longshore_scatter(table, indices, written, values, &options));
  CHECK_OK(longshore_barrier(team));
  for (int64_t k = 0; k < longshore_array_local_size(table); ++k)
    CHECK(load(longshore_array_local(table), k, type) ==
          3.0 * (double)(-longshore_array_index(table, k) - 1) + 1);
  CHECK_OK(longshore_array_free(table));
  return LONGSHORE_OK;
}

/* Every rank adds to every element: first 1, then an amount. */
static int histogram(longshore_team* team, int type, const char* strategy) {
  const int size = longshore_team_size(team);
  const int64_t n = 10 * size + 3;
  longshore_array* counts = NULL;
  CHECK_OK(longshore_array_create(team, type, 0, n, "cyclic", &counts));
  int64_t* indices = malloc((size_t)n * sizeof *indices);
  double* amounts = malloc((size_t)n * sizeof *amounts);
  for (int64_t i = 0; i < n; ++i) {
    indices[i] = n - 1 - i;
    if (type == LONGSHORE_FLOAT64) amounts[i] = 0.5;
    if (type == LONGSHORE_FLOAT32) ((float*)amounts)[i] = 0.5F;
    if (type == LONGSHORE_INT64) ((int64_t*)amounts)[i] = -3;
    if (type == LONGSHORE_INT32) ((int32_t*)amounts)[i] = -3;
  }
  struct longshore_gather_options options = {0};
  options.strategy = strategy;
  longshore_histogram_plan* plan = NULL;
  CHECK_OK(longshore_histogram_create(counts, &options, &plan));
  CHECK_OK(longshore_histogram_run(plan, indices, n, NULL));
  CHECK_OK(longshore_histogram_run(plan, indices, n, amounts));
  CHECK(strcmp(longshore_histogram_strategy(plan), strategy) == 0);
  CHECK_OK(longshore_barrier(team));
  const double expected =
      size * (type == LONGSHORE_FLOAT64 || type == LONGSHORE_FLOAT32 ? 1.5 : -2.0);
  for (int64_t k = 0; k < longshore_array_local_size(counts); ++k) {
    const void* const mine = longshore_array_local(counts);
    double found = 0;
    if (type == LONGSHORE_FLOAT64) found = ((const double*)mine)[k];
    if (type == LONGSHORE_FLOAT32) found = ((const float*)mine)[k];
    if (type == LONGSHORE_INT64) found = (double)((const int64_t*)mine)[k];
    if (type == LONGSHORE_INT32) found = ((const int32_t*)mine)[k];
    CHECK(found == expected);
  }
  CHECK_OK(longshore_barrier(team)); /* all ranks have checked */
  indices[1] = n;
  CHECK_REFUSED(longshore_histogram_run(plan, indices, n, NULL), LONGSHORE_ERROR_USAGE,
                "histogram on rank");
  free(indices);
  free(amounts);
  return LONGSHORE_OK; /* the end of the run frees array and plan */
}

/* Stores and loads an integer as an element of the given type. */
static void put(void* memory, int64_t at, int64_t value, int type) {
  if (type == LONGSHORE_FLOAT32) ((float*)memory)[at] = (float)value;
  if (type == LONGSHORE_FLOAT64) ((double*)memory)[at] = (double)value;
  if (type == LONGSHORE_INT32 || type == LONGSHORE_UINT32) ((int32_t*)memory)[at] = (int32_t)value;
  if (type == LONGSHORE_INT64 || type == LONGSHORE_UINT64) ((int64_t*)memory)[at] = value;
}
static int64_t get(const void* memory, int64_t at, int type) {
  if (type == LONGSHORE_FLOAT32) return (int64_t)((const float*)memory)[at];
  if (type == LONGSHORE_FLOAT64) return (int64_t)((const double*)memory)[at];
  return type == LONGSHORE_INT32 || type == LONGSHORE_UINT32 ? ((const int32_t*)memory)[at]
                                                             : ((const int64_t*)memory)[at];
}
/* The expected result of an operation. Unsigned types compare as unsigned. */
static int64_t combined(int operation, int type, int64_t a, int64_t b) {
  const int is_unsigned = type == LONGSHORE_UINT32 || type == LONGSHORE_UINT64;
  const int is_less = is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
  switch (operation) {
    case LONGSHORE_SUM: return a + b;
    case LONGSHORE_MIN: return is_less ? a : b;
    case LONGSHORE_MAX: return is_less ? b : a;
    case LONGSHORE_XOR: return a ^ b;
    case LONGSHORE_OR: return a | b;
    default: return a & b;
  }
}

/* Every rank updates every element, which is 3 initially. */
static int update(longshore_team* team, int type, int operation, const char* strategy) {
  const int rank = longshore_team_rank(team), size = longshore_team_size(team);
  const int64_t n = 10 * size + 3;
  longshore_array* table = NULL;
  CHECK_OK(longshore_array_create_block_cyclic(team, type, 0, n, 4, &table));
  for (int64_t k = 0; k < longshore_array_local_size(table); ++k)
    put(longshore_array_local(table), k, 3, type);
  int64_t* indices = malloc((size_t)n * sizeof *indices);
  int64_t* values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; ++i) {
    indices[i] = n - 1 - i;
    put(values, i, (indices[i] * 31 + rank * 17) % 23 - 11, type);
  }
  const struct longshore_gather_options options = {.strategy = strategy};
  longshore_update_plan* plan = NULL;
  CHECK_OK(longshore_update_create(table, operation, &options, &plan));
  CHECK(strcmp(longshore_update_strategy(plan), strategy) == 0);
  CHECK_OK(longshore_barrier(team));
  CHECK_OK(longshore_update_run(plan, indices, n / 2, values));
  CHECK_OK(longshore_update_free(plan));
  const char* const rest = (const char*)values + (size_t)(n / 2) * longshore_type_bytes(type);
  CHECK_OK(longshore_update(table, indices + n / 2, n - n / 2, rest, operation, &options));
  CHECK_OK(longshore_barrier(team));
  for (int64_t k = 0; k < longshore_array_local_size(table); ++k) {
    const int64_t i = longshore_array_index(table, k);
    int64_t expected = 3;
    for (int r = 0; r < size; ++r)
      expected = combined(operation, type, expected, (i * 31 + r * 17) % 23 - 11);
    CHECK(get(longshore_array_local(table), k, type) == expected);
  }
  free(indices);
  free(values);
  CHECK_OK(longshore_array_free(table));
  return LONGSHORE_OK;
}

static int wrong_requests_are_refused(longshore_team* team) {
  longshore_array* table = NULL;
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_INT16, 0, 10, NULL, &table),
                LONGSHORE_ERROR_USAGE, "4 or 8 bytes");
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_BYTES, 0, 10, NULL, &table),
                LONGSHORE_ERROR_USAGE, "0 bytes");
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_INT32, 0, -1, NULL, &table),
                LONGSHORE_ERROR_USAGE, "0 or more");
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_INT32, 0, 10, "diagonal", &table),
                LONGSHORE_ERROR_USAGE, "block, cyclic");
  CHECK_OK(longshore_array_create(team, LONGSHORE_BYTES, 8, 10, "block", &table));
  const struct longshore_gather_options wrong = {.strategy = "fastest"},
                                        rounds = {.strategy = "exstack"};
  longshore_gather_plan* plan = NULL;
  CHECK_REFUSED(longshore_gather_create(table, &wrong, &plan), LONGSHORE_ERROR_USAGE,
                "agp, exstack, exstack2, conveyor");
  longshore_histogram_plan* adds = NULL;
  CHECK_REFUSED(longshore_histogram_create(table, NULL, &adds), LONGSHORE_ERROR_USAGE,
                "array of bytes");
  longshore_array *reals = NULL, *blocks = NULL;
  longshore_update_plan* bits = NULL;
  CHECK_OK(longshore_array_create(team, LONGSHORE_FLOAT64, 0, 10, NULL, &reals));
  CHECK_REFUSED(longshore_update_create(reals, LONGSHORE_XOR, NULL, &bits), LONGSHORE_ERROR_USAGE,
                "of integers");
  CHECK_REFUSED(longshore_update_create(reals, 7, NULL, &bits), LONGSHORE_ERROR_USAGE,
                "LONGSHORE_MIN, LONGSHORE_MAX");
  CHECK_REFUSED(longshore_update_create(NULL, LONGSHORE_MIN, NULL, &bits), LONGSHORE_ERROR_USAGE,
                "the table is NULL");
  CHECK_REFUSED(longshore_update_run(NULL, NULL, 0, NULL), LONGSHORE_ERROR_USAGE,
                "the plan is NULL");
  CHECK_OK(longshore_array_free(reals));
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_INT32, 0, 10, "block-cyclic", &blocks),
                LONGSHORE_ERROR_USAGE, "longshore_array_create_block_cyclic");
  CHECK_REFUSED(longshore_array_create_block_cyclic(team, LONGSHORE_INT32, 0, 10, 0, &blocks),
                LONGSHORE_ERROR_USAGE, "1 or more");
  const int64_t beyond = 10, first = 0;
  double out = 0;
  CHECK_OK(longshore_gather_create(table, &rounds, &plan));
  CHECK_REFUSED(longshore_gather_run(plan, &beyond, 1, &out), LONGSHORE_ERROR_USAGE, "10");
  CHECK_OK(longshore_gather_run(plan, &first, 1, &out)); /* the plan can be used again */
  CHECK_REFUSED(longshore_gather_run(plan, NULL, 1, &out), LONGSHORE_ERROR_USAGE,
                "the array of indices is NULL");
  CHECK_OK(longshore_gather_free(plan));
  CHECK_OK(longshore_array_free(table));
  return LONGSHORE_OK;
}

/* The interior cells of a rank in the tests of halos. */
enum { nx = 5, ny = 4, nz = 3 };

/* The value of a cell in exchange number `use`, from its position in the whole domain, which is
 * open along x and periodic along y and z; -1 beyond the domain. */
static int64_t cell_value(const longshore_grid* grid, int use, int64_t x, int64_t y, int64_t z) {
  int shape[3], at[3];
  longshore_grid_shape(grid, shape);
  longshore_grid_coordinates(grid, at);
  x += at[0] * nx;
  if (x < 0 || x >= shape[0] * nx) return -1;
  y = (y + (at[1] + shape[1]) * ny) % (shape[1] * ny);
  z = (z + (at[2] + shape[2]) * nz) % (shape[2] * nz);
  return use + 1 + x + 1000 * (y + 1000 * z);
}

/* Fills the interior of a field of float64 and one of int32, exchanges and checks them. */
static int exchange_and_check(longshore_team* team, const longshore_grid* grid,
                              longshore_halo* plan, const struct longshore_field* fields, int use,
                              int fault) {
  double* const u = fields[0].first;
  int32_t* const v = fields[1].first;
  const int64_t *const u_strides = fields[0].strides, *const v_strides = fields[1].strides;
  for (int64_t z = 0; z < nz; ++z)
    for (int64_t y = 0; y < ny; ++y)
      for (int64_t x = 0; x < nx; ++x) {
        u[x + y * u_strides[1] + z * u_strides[2]] = (double)cell_value(grid, use, x, y, z);
        v[x + y * v_strides[1] + z * v_strides[2]] = (int32_t)cell_value(grid, use, x, y, z);
      }
  CHECK_OK(longshore_barrier(team));
  if (use == 0) CHECK_OK(longshore_halo_exchange(plan));
  if (use > 0) CHECK_OK(longshore_halo_start(plan));
  if (use == 1) CHECK_REFUSED(longshore_halo_free(plan), LONGSHORE_ERROR_USAGE, "in flight");
  if (use == 1) CHECK_OK(longshore_halo_wait(plan));
  for (int complete = use < 2; !complete;) CHECK_OK(longshore_halo_test(plan, &complete));
  if (fault) u[-1] = 17;
  for (int64_t z = -1; z < nz + 1; ++z)
    for (int64_t y = -1; y < ny + 2; ++y)
      for (int64_t x = -1; x < nx + 1; ++x) {
        const int64_t expected = cell_value(grid, use, x, y, z);
        CHECK(u[x + y * u_strides[1] + z * u_strides[2]] == (double)expected);
        CHECK(v[x + y * v_strides[1] + z * v_strides[2]] == (int32_t)expected);
      }
  CHECK(u[-2] == -1); /* this cell of the halo is not exchanged */
  return LONGSHORE_OK;
}

/* Exchanges two fields with different types and halo widths, on a grid that is open along x. */
static int halo(longshore_team* team, const char* algorithm, const char* mode, int in_shared_memory,
                int fault) {
  static const int64_t extents[3] = {nx, ny, nz};
  static const int low_u[3] = {2, 1, 1}, high_u[3] = {1, 2, 1}, low_v[3] = {2, 2, 2},
                   high_v[3] = {2, 2, 2};
  longshore_grid* grid = NULL;
  const int periodic[3] = {0, 1, 1};
  const struct longshore_grid_options options_of_grid = {.periodic = periodic};
  CHECK_OK(longshore_grid_create(team, &options_of_grid, &grid));
  CHECK(longshore_grid_dimensions(grid) == 3);
  int shape[3], at[3];
  longshore_grid_shape(grid, shape);
  longshore_grid_coordinates(grid, at);
  CHECK(shape[0] * shape[1] * shape[2] == longshore_team_size(team));
  CHECK(longshore_grid_neighbour(grid, (int[3]){-1, 0, 0}) ==
        (at[0] == 0 ? -1 : longshore_team_rank(team) - 1));
  int64_t first = -1, count = -1;
  longshore_grid_piece(grid, 1, ny * shape[1], &first, &count);
  CHECK(first == at[1] * ny && count == ny);
  longshore_grid_piece(grid, 3, ny, &first, &count);
  CHECK(first == 0 && count == 0);

  const size_t cells_u = (size_t)(nx + 3) * (ny + 3) * (nz + 2),
               cells_v = (size_t)(nx + 4) * (ny + 4) * (nz + 4);
  double* u = NULL;
  longshore_memory* memory = NULL;
  void* shared = NULL;
  CHECK_OK(longshore_memory_create(team, cells_u * sizeof(double), &memory, &shared));
  CHECK(longshore_memory_of(team, (char*)shared + 8) == memory &&
        longshore_memory_of(team, shape) == NULL);
  u = in_shared_memory ? shared : malloc(cells_u * sizeof(double));
  int32_t* v = malloc(cells_v * sizeof(int32_t));
  struct longshore_field fields[2];
  longshore_field_dense(&fields[0], u, LONGSHORE_FLOAT64, extents, low_u, high_u);
  longshore_field_dense(&fields[1], v, LONGSHORE_INT32, extents, low_v, high_v);
  static const int width_low[3] = {1, 1, 1}, width_high[3] = {1, 2, 1};
  const struct longshore_halo_options options = {
      .algorithm = algorithm, .mode = mode, .low = width_low, .high = width_high};
  longshore_halo* plan = NULL;
  CHECK_OK(longshore_halo_create(grid, &options, fields, 2, &plan));
  CHECK(strcmp(longshore_halo_algorithm(plan), algorithm) == 0 && longshore_halo_rounds(plan) >= 0);
  struct longshore_traffic moved = {0};
  longshore_halo_moved(plan, &moved);
  CHECK(moved.payload_bytes > 0 && moved.messages >= 0 && moved.offnode_bytes <= moved.wire_bytes);
  CHECK_REFUSED(longshore_grid_free(grid), LONGSHORE_ERROR_USAGE, "the grid is still used by 1");
  if (in_shared_memory)
    CHECK_REFUSED(longshore_memory_free(memory), LONGSHORE_ERROR_USAGE,
                  "the memory is still used by 1");

  for (int use = 0; use < 3; ++use) {
    for (size_t i = 0; i < cells_u; ++i) u[i] = -1;
    for (size_t i = 0; i < cells_v; ++i) v[i] = -1;
    const int status = exchange_and_check(team, grid, plan, fields, use, fault);
    if (status != LONGSHORE_OK) return status;
  }
  CHECK_OK(longshore_halo_free(plan));
  CHECK_OK(longshore_memory_free(memory));
  CHECK_OK(longshore_grid_free(grid));
  if (!in_shared_memory) free(u);
  free(v);
  return LONGSHORE_OK;
}

static int wrong_halos_are_refused(longshore_team* team) {
  longshore_grid* grid = NULL;
  longshore_halo* plan = NULL;
  const struct longshore_grid_options four = {.dimensions = 4}, nowhere = {.placement = "best"},
                                      none = {.ranks = {10007, 0, 0}};
  CHECK_REFUSED(longshore_grid_create(team, &four, &grid), LONGSHORE_ERROR_USAGE, "1, 2 or 3");
  CHECK_REFUSED(longshore_grid_create(team, &nowhere, &grid), LONGSHORE_ERROR_USAGE, "linear");
  CHECK_REFUSED(longshore_grid_create(team, &none, &grid), LONGSHORE_ERROR_USAGE, "10007");
  CHECK_OK(longshore_grid_create(team, NULL, &grid));
  double cells[27] = {0};
  static const int64_t extents[3] = {1, 1, 1};
  static const int one[3] = {1, 1, 1};
  struct longshore_field field;
  longshore_field_dense(&field, cells, LONGSHORE_FLOAT64, extents, one, one);
  const struct longshore_halo_options algorithm = {.algorithm = "quick"},
                                      mode = {.mode = "telepathy"}, half = {.low = one};
  CHECK_REFUSED(longshore_halo_create(grid, &algorithm, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "staged-sequenced");
  CHECK_REFUSED(longshore_halo_create(grid, &mode, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "isend-recv");
  CHECK_REFUSED(longshore_halo_create(grid, &half, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "one of low and high");
  const struct longshore_halo_options both = {.low = one, .high = one, .width = 1},
                                      negative = {.width = -1}, width = {.width = 1};
  CHECK_REFUSED(longshore_halo_create(grid, &both, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "give width, or low and high");
  CHECK_REFUSED(longshore_halo_create(grid, &negative, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "a halo of width -1");
  double wide_cells[125]; /* a halo of 2, of which 1 is exchanged */
  static const int two[3] = {2, 2, 2};
  struct longshore_field wide;
  struct longshore_traffic moved = {0};
  longshore_field_dense(&wide, wide_cells, LONGSHORE_FLOAT64, extents, two, two);
  CHECK_OK(longshore_halo_create(grid, &width, &wide, 1, &plan));
  longshore_halo_moved(plan, &moved);
  CHECK(moved.payload_bytes == 26 * (int64_t)sizeof(double));
  CHECK_OK(longshore_halo_free(plan));
  CHECK_REFUSED(longshore_halo_create(grid, NULL, NULL, 1, &plan), LONGSHORE_ERROR_USAGE, "NULL");
  field.type = 0;
  CHECK_REFUSED(longshore_halo_create(grid, NULL, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "longshore_type");
  longshore_field_dense(&field, cells, LONGSHORE_BYTES, extents, one, one);
  field.element_bytes = sizeof(double);
  CHECK_REFUSED(longshore_halo_create(grid, NULL, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "the memory of a field is NULL");
  CHECK_OK(longshore_grid_free(grid));
  CHECK_OK(longshore_grid_free(NULL));
  return LONGSHORE_OK;
}

/* Key `at` of a type that is `bytes` bytes long, as a number. */
static double number_of_key(const unsigned char* at, int type, size_t bytes) {
  if (type == LONGSHORE_FLOAT32) {
    float single;
    memcpy(&single, at, sizeof single);
    return single;
  }
  if (type == LONGSHORE_FLOAT64) {
    double wide;
    memcpy(&wide, at, sizeof wide);
    return wide;
  }
  int64_t integer = 0;
  memcpy(&integer, at, bytes); /* little-endian */
  const int64_t sign = (int64_t)((uint64_t)1 << (8 * bytes - 1));
  if (type <= LONGSHORE_INT64 && bytes < 8) integer = (integer ^ sign) - sign;
  return (double)integer;
}

enum { keys_per_rank = 300 };

/* Each payload begins with a copy of its key. */
static void make_keys(int rank, int type, int64_t max_key, size_t payload_bytes,
                      unsigned char* keys, unsigned char* payloads) {
  const size_t bytes = longshore_type_bytes(type);
  for (int i = 0; i < keys_per_rank; ++i) {
    int64_t value = ((int64_t)(i + keys_per_rank * rank) * 7919) % 251; /* from 0 to 250 */
    if (max_key == 0 && type != LONGSHORE_UINT8 && type != LONGSHORE_UINT16 &&
        type != LONGSHORE_UINT32 && type != LONGSHORE_UINT64)
      value -= 125; /* also negative keys */
    if (type == LONGSHORE_INT8 && max_key > 0) value %= max_key;
    const float single = (float)value / 2;
    const double wide = (double)value / 2;
    const void* const from = type == LONGSHORE_FLOAT32   ? (const void*)&single
                             : type == LONGSHORE_FLOAT64 ? (const void*)&wide
                                                         : &value;
    memcpy(keys + (size_t)i * bytes, from, bytes); /* little-endian */
    memcpy(payloads + (size_t)i * payload_bytes, keys + (size_t)i * bytes,
           payload_bytes < bytes ? payload_bytes : bytes);
  }
}

/* Sorts keys of one type over all ranks. Checks their order within and across ranks, their sum, and
 * that each key has kept its payload. */
static int sort(longshore_team* team, int type, size_t payload_bytes, int64_t max_key) {
  const int rank = longshore_team_rank(team), size = longshore_team_size(team);
  const size_t bytes = longshore_type_bytes(type);
  unsigned char keys[keys_per_rank * 8], payloads[keys_per_rank * 56];
  memset(payloads, 0, sizeof payloads);
  make_keys(rank, type, max_key, payload_bytes, keys, payloads);
  const struct longshore_sort_options options = {.max_key = max_key,
                                                 .stable = payload_bytes > 8,
                                                 .barrier_before_exchange = type % 2,
                                                 .seed = type};
  longshore_sorter* sorter = NULL;
  CHECK_OK(longshore_sorter_create(team, type, payload_bytes, &options, &sorter));
  int64_t received = -1;
  for (int use = 0; use < 2; ++use)
    CHECK_OK(longshore_sorter_run(sorter, keys, payload_bytes > 0 ? payloads : NULL, keys_per_rank,
                                  &received));
  int64_t all = received;
  CHECK_OK(longshore_allreduce(team, &all, 1, LONGSHORE_INT64, LONGSHORE_SUM));
  CHECK(all == (int64_t)keys_per_rank * size);
  CHECK(strcmp(longshore_sorter_exchange(sorter), "auto") != 0);

  unsigned char* sorted = malloc((size_t)(received + 1) * 8);
  unsigned char* with = malloc((size_t)(received + 1) * 56);
  CHECK_OK(longshore_sorter_result(sorter, sorted, payload_bytes > 0 ? with : NULL));
  CHECK_OK(longshore_sorter_free(sorter));
  double highest = -1e300, difference = 0;
  for (int64_t i = 0; i < received; ++i) {
    const unsigned char* const at = sorted + (size_t)i * bytes;
    const double value = number_of_key(at, type, bytes);
    CHECK(value >= highest);
    highest = value;
    difference -= value;
    CHECK(memcmp(with + (size_t)i * payload_bytes, at,
                 payload_bytes < bytes ? payload_bytes : bytes) == 0);
  }
  for (int64_t i = 0; i < keys_per_rank; ++i)
    difference += number_of_key(keys + (size_t)i * bytes, type, bytes);
  CHECK_OK(longshore_allreduce(team, &difference, 1, LONGSHORE_FLOAT64, LONGSHORE_SUM));
  CHECK(fabs(difference) < 1e-6);
  double* highest_of = malloc(sizeof(double) * (size_t)size);
  CHECK_OK(longshore_allgather(team, &highest, sizeof highest, highest_of));
  for (int r = 0; r < rank && received > 0; ++r)
    CHECK(highest_of[r] <= number_of_key(sorted, type, bytes));
  free(highest_of);
  free(sorted);
  free(with);
  return LONGSHORE_OK;
}

/* Sorts one large key, which rank 0 has, and many keys with 7 small values. With sampled splitters,
 * equal keys come to one rank or to several. */
static int splitters_by_name(longshore_team* team) {
  const struct longshore_sort_options ways[] = {{.splitters = "equal-width"},
                                                {.splitters = "sampled"},
                                                {.splitters = "sampled", .together = 1}};
  int64_t keys[keys_per_rank], most[3];
  for (int i = 0; i < keys_per_rank; ++i)
    keys[i] = i == 0 && longshore_team_rank(team) == 0 ? 1000000 : 1 + i % 7;
  for (int way = 0; way < 3; ++way) {
    longshore_sorter* sorter = NULL;
    CHECK_OK(longshore_sorter_create(team, LONGSHORE_INT64, 0, &ways[way], &sorter));
    CHECK_OK(longshore_sorter_run(sorter, keys, NULL, keys_per_rank, &most[way]));
    CHECK_OK(longshore_sorter_free(sorter));
  }
  CHECK_OK(longshore_allreduce(team, most, 3, LONGSHORE_INT64, LONGSHORE_MAX));
  const int size = longshore_team_size(team);
  /* With parts of equal width, one rank gets all keys but the largest. With samples, the ranks
   * share the 7 values. */
  CHECK(most[0] == (int64_t)keys_per_rank * size - (size > 1));
  CHECK(size < 3 || (most[1] < most[0] && most[1] <= most[2]));
  longshore_sorter* sorter = NULL;
  const struct longshore_sort_options unknown = {.splitters = "axe"};
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_INT64, 0, &unknown, &sorter),
                LONGSHORE_ERROR_USAGE, "'axe': allowed are equal-width, sampled");
  return LONGSHORE_OK;
}

static int wrong_sorts_are_refused(longshore_team* team) {
  longshore_sorter* sorter = NULL;
  const struct longshore_sort_options far = {.max_key = 200}, wrong = {.exchange = "pigeon"},
                                      few = {.max_key = 10};
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_INT8, 0, &far, &sorter),
                LONGSHORE_ERROR_USAGE, "at most 127");
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_FLOAT32, 0, &far, &sorter),
                LONGSHORE_ERROR_USAGE, "integer keys");
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_INT32, 0, &wrong, &sorter),
                LONGSHORE_ERROR_USAGE, "put-scan");
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_INT32, 57, NULL, &sorter),
                LONGSHORE_ERROR_USAGE, "at most 56");
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_BYTES, 0, NULL, &sorter),
                LONGSHORE_ERROR_USAGE, "no order");
  CHECK_OK(longshore_sorter_create(team, LONGSHORE_INT32, 0, &few, &sorter));
  const int32_t negative = -1;
  CHECK_REFUSED(longshore_sorter_run(sorter, &negative, NULL, 1, NULL), LONGSHORE_ERROR_USAGE,
                "(-1 if it has a sign) at position 0 is outside the range");
  CHECK_OK(longshore_sorter_free(sorter));
  CHECK_OK(longshore_sorter_create(team, LONGSHORE_INT32, 8, NULL, &sorter));
  CHECK_REFUSED(longshore_sorter_run(sorter, &negative, NULL, 1, NULL), LONGSHORE_ERROR_USAGE,
                "payloads");
  CHECK_OK(longshore_sorter_free(sorter));
  return LONGSHORE_OK;
}

/* The last rank passes something else, and all ranks get the same error, which names both. */
static int other_arguments_are_refused(longshore_team* team) {
  const int is_other = longshore_team_rank(team) == longshore_team_size(team) - 1;
  if (longshore_team_size(team) == 1) return LONGSHORE_OK;
  longshore_array* table = NULL;
  CHECK_REFUSED(longshore_array_create(team, is_other ? LONGSHORE_INT64 : LONGSHORE_FLOAT64, 0, 100,
                                       "block", &table),
                LONGSHORE_ERROR_USAGE, "float64");
  CHECK(strstr(longshore_error_message(), "int64") != NULL);
  CHECK_REFUSED(
      longshore_array_create(team, LONGSHORE_INT64, 0, is_other ? 101 : 100, "block", &table),
      LONGSHORE_ERROR_USAGE, "101");
  CHECK_OK(longshore_array_create(team, LONGSHORE_INT64, 0, 100, "block", &table));
  const struct longshore_gather_options exstack = {.strategy = "exstack"},
                                        conveyor = {.strategy = "conveyor"};
  longshore_gather_plan* gather = NULL;
  CHECK_REFUSED(longshore_gather_create(table, is_other ? &conveyor : &exstack, &gather),
                LONGSHORE_ERROR_USAGE, "exstack");
  CHECK(strstr(longshore_error_message(), "conveyor") != NULL);
  CHECK_OK(longshore_array_free(table));

  double cells[27] = {0};
  int64_t numbers[27] = {0};
  static const int64_t extents[3] = {1, 1, 1};
  static const int one[3] = {1, 1, 1};
  struct longshore_field field, other;
  longshore_field_dense(&field, cells, LONGSHORE_FLOAT64, extents, one, one);
  longshore_field_dense(&other, numbers, LONGSHORE_INT64, extents, one, one);
  const struct longshore_halo_options standard = {.algorithm = "standard"},
                                      faces = {.algorithm = "faces"}, channel = {.mode = "channel"};
  longshore_grid* grid = NULL;
  longshore_halo* plan = NULL;
  CHECK_OK(longshore_grid_create(team, NULL, &grid));
  CHECK_REFUSED(longshore_halo_create(grid, is_other ? &faces : &standard, &field, 1, &plan),
                LONGSHORE_ERROR_USAGE, "standard");
  CHECK(strstr(longshore_error_message(), "faces") != NULL);
  CHECK_REFUSED(longshore_halo_create(grid, is_other ? &channel : &standard, &field, 1, &plan),
                LONGSHORE_ERROR_USAGE, "channel");
  CHECK_REFUSED(longshore_halo_create(grid, NULL, is_other ? &other : &field, 1, &plan),
                LONGSHORE_ERROR_USAGE, "float64");
  CHECK_OK(longshore_halo_create(grid, NULL, &field, 1, &plan));
  CHECK_OK(longshore_halo_exchange(plan));
  CHECK_OK(longshore_halo_free(plan));
  CHECK_OK(longshore_grid_free(grid));

  longshore_sorter* sorter = NULL;
  const struct longshore_sort_options few = {.max_key = 10}, many = {.max_key = 1000};
  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_INT32, 0, is_other ? &many : &few, &sorter),
                LONGSHORE_ERROR_USAGE, "1000");
  CHECK_REFUSED(longshore_sorter_create(team, is_other ? LONGSHORE_UINT64 : LONGSHORE_FLOAT64, 0,
                                        NULL, &sorter),
                LONGSHORE_ERROR_USAGE, "float64");

  longshore_ghost_graph* graph = NULL;
  longshore_ghost* ghosts = NULL;
  const int64_t needed = 0;
  double elements[3] = {0};
  const struct longshore_ghost_options direct = {.strategy = "direct"},
                                       sent = {.strategy = "standard"};
  const struct longshore_ghost_field memory = {
      .owned = elements, .ghosts = elements + 2, .type = LONGSHORE_FLOAT64};
  CHECK_OK(longshore_ghost_graph_create(team, 2, &needed, 1, &graph));
  CHECK_REFUSED(longshore_ghost_create(graph, is_other ? &sent : &direct, &memory, 1, &ghosts),
                LONGSHORE_ERROR_USAGE, "all ranks must pass the same");
  CHECK_OK(longshore_ghost_graph_free(graph));
  return LONGSHORE_OK;
}

/* The arguments of the last rank are wrong: all ranks refuse the call, and can go on. */
static int wrong_arguments_of_one_rank(longshore_team* team) {
  const int is_other = longshore_team_rank(team) == longshore_team_size(team) - 1;
  longshore_array* table = NULL;
  CHECK_REFUSED_BY_ALL(
      longshore_array_create(team, LONGSHORE_INT64, 0, is_other ? -1 : 100, "block", &table),
      "size of an array is -1");
  CHECK_REFUSED_BY_ALL(
      longshore_array_create(team, LONGSHORE_INT64, 0, 100, is_other ? "blocks" : "block", &table),
      "'blocks'");
  CHECK_OK(longshore_array_create(team, LONGSHORE_INT64, 0, 100, "block", &table));
  const struct longshore_gather_options none = {.strategy = "exstak"};
  longshore_gather_plan* gather = NULL;
  longshore_update_plan* update = NULL;
  CHECK_REFUSED_BY_ALL(longshore_gather_create(table, is_other ? &none : NULL, &gather), "exstak");
  CHECK_REFUSED_BY_ALL(longshore_gather(table, NULL, is_other ? 1 : 0, NULL, NULL),
                       "the array of indices is NULL");
  if (longshore_team_size(team) > 1)
    CHECK_REFUSED_BY_ALL(
        longshore_update_create(table, is_other ? LONGSHORE_MIN : LONGSHORE_MAX, NULL, &update),
        "function min");
  CHECK_OK(longshore_array_free(table));

  double cells[27] = {0};
  static const int64_t extents[3] = {1, 1, 1};
  static const int one[3] = {1, 1, 1};
  struct longshore_field field;
  longshore_field_dense(&field, cells, LONGSHORE_FLOAT64, extents, one, one);
  const struct longshore_grid_options too_many = {.ranks = {99, 0, 0}},
                                      nowhere = {.placement = "up"};
  const struct longshore_halo_options mode = {.mode = "dirct"};
  longshore_grid* grid = NULL;
  longshore_halo* plan = NULL;
  CHECK_REFUSED_BY_ALL(longshore_grid_create(team, is_other ? &too_many : NULL, &grid), "99");
  CHECK_REFUSED_BY_ALL(longshore_grid_create(team, is_other ? &nowhere : NULL, &grid), "'up'");
  CHECK_OK(longshore_grid_create(team, NULL, &grid));
  CHECK_REFUSED_BY_ALL(longshore_halo_create(grid, is_other ? &mode : NULL, &field, 1, &plan),
                       "dirct");
  CHECK_REFUSED_BY_ALL(longshore_halo_create(grid, NULL, is_other ? NULL : &field, 1, &plan),
                       "the array of fields is NULL");
  CHECK_OK(longshore_grid_free(grid));

  longshore_sorter* sorter = NULL;
  CHECK_REFUSED_BY_ALL(
      longshore_sorter_create(team, LONGSHORE_INT32, is_other ? 1000 : 8, NULL, &sorter),
      "payloads of 1000 bytes");

  longshore_ghost_graph* graph = NULL;
  longshore_ghost* ghosts = NULL;
  const int64_t needed = 0;
  double elements[7] = {0};
  int64_t numbers[7] = {0};
  const struct longshore_ghost_options strategy = {.strategy = "standart"};
  const struct longshore_ghost_field
      memory = {.owned = elements, .ghosts = elements + 6, .type = LONGSHORE_FLOAT64, .items = 3},
      other = {.owned = numbers, .ghosts = numbers + 6, .type = LONGSHORE_INT64, .items = 3};
  CHECK_REFUSED_BY_ALL(longshore_ghost_graph_create(team, is_other ? -1 : 2, &needed, 0, &graph),
                       "the number of owned elements is -1");
  CHECK_OK(longshore_ghost_graph_create(team, 2, &needed, 0, &graph));
  CHECK_REFUSED_BY_ALL(
      longshore_ghost_create(graph, is_other ? &strategy : NULL, &memory, 1, &ghosts), "standart");
  if (longshore_team_size(team) > 1)
    CHECK_REFUSED_BY_ALL(
        longshore_ghost_create(graph, NULL, is_other ? &other : &memory, 1, &ghosts),
        "int64 (24 bytes)");
  CHECK_OK(longshore_ghost_graph_free(graph));
  return LONGSHORE_OK;
}

/* Starts an exchange of a field of one cell and does not wait for it: the end of the run completes
 * it. */
static int leave_in_flight(longshore_team* team, double* cells) {
  static const int64_t extents[3] = {1, 1, 1};
  static const int one[3] = {1, 1, 1};
  struct longshore_field field;
  longshore_grid* grid = NULL;
  longshore_halo* plan = NULL;
  for (int i = 0; i < 27; ++i) cells[i] = i == 13 ? 7 : 0;
  longshore_field_dense(&field, cells, LONGSHORE_FLOAT64, extents, one, one);
  /* with this algorithm start() does not complete the exchange */
  const struct longshore_halo_options staged = {.algorithm = "staged"};
  CHECK_OK(longshore_grid_create(team, NULL, &grid));
  CHECK_OK(longshore_halo_create(grid, &staged, &field, 1, &plan));
  return longshore_halo_start(plan);
}

static int stream(longshore_team* team) {
  static const char* const kernels[] = {"copy", "scale", "add", "triad"};
  for (int k = 0; k < 4; ++k) {
    longshore_stream* loop = NULL;
    const struct longshore_stream_options options = {.kernel = kernels[k],
                                                     .tasks = k == 3 ? "threads" : NULL,
                                                     .task_count = k == 3 ? 2 : 0,
                                                     .stores = k < 2    ? "streaming"
                                                               : k == 2 ? "ordinary"
                                                                        : NULL,
                                                     .first_touch = k == 1   ? "parallel"
                                                                    : k == 2 ? "serial"
                                                                    : k == 3 ? "auto"
                                                                             : NULL};
    CHECK_OK(longshore_stream_create(team, k % 2 ? LONGSHORE_FLOAT32 : LONGSHORE_FLOAT64, 1000,
                                     &options, &loop));
    CHECK_OK(longshore_stream_run(loop));
    CHECK_OK(longshore_stream_run(loop));
    CHECK(longshore_stream_wrong(loop) == 0);
    CHECK(longshore_stream_bytes(loop) == (k < 2 ? 2 : 3) * 1000 * (k % 2 ? 4 : 8));
    CHECK_OK(longshore_stream_free(loop));
  }
  longshore_stream* loop = NULL;
  const struct longshore_stream_options kernel = {.kernel = "cubed"}, memory = {.memory = "ram"},
                                        tasks = {.tasks = "elves"};
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, 10, &kernel, &loop),
                LONGSHORE_ERROR_USAGE, "triad");
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, 10, &memory, &loop),
                LONGSHORE_ERROR_USAGE, "malloc");
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, 10, &tasks, &loop),
                LONGSHORE_ERROR_USAGE, "openmp");
  const struct longshore_stream_options stores = {.stores = "grocery"},
                                        touch = {.first_touch = "last"};
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, 10, &stores, &loop),
                LONGSHORE_ERROR_USAGE, "it is one of ordinary, streaming");
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, 10, &touch, &loop),
                LONGSHORE_ERROR_USAGE, "it is one of auto, serial, parallel");
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_INT32, 10, NULL, &loop),
                LONGSHORE_ERROR_USAGE, "LONGSHORE_FLOAT32");
  return LONGSHORE_OK;
}

enum { most_threads = 8 };
struct test_context {
  int fault;
  /* the cells that the end of the run fills, for each rank of this process */
  double in_flight[most_threads][27];
};

static int run_all_checks(longshore_team* team, void* context) {
  struct test_context* const test = context;
  const int fault = test->fault;
  PASS(collectives(team));
  static const char* const strategies[] = {"agp",      "exstack",    "exstack2",
                                           "conveyor", "aggregator", "direct"};
  const int all_direct = longshore_team_nodes(team) == 1;
  for (int s = 0; s < 5 + all_direct; ++s) {
    PASS(gather_and_scatter(team, short_type, "block", strategies[s]));
    PASS(gather_and_scatter(team, LONGSHORE_FLOAT64, "cyclic", strategies[s]));
    PASS(gather_and_scatter(team, short_type, "block-cyclic", strategies[s]));
  }
  for (int type = LONGSHORE_INT32; type <= LONGSHORE_FLOAT64; ++type) {
    if (longshore_type_bytes(type) < least_bytes || type == LONGSHORE_UINT32 ||
        type == LONGSHORE_UINT64)
      continue;
    PASS(histogram(team, type, "exstack"));
    /* between nodes agp needs 64-bit integers */
    if (all_direct || type == LONGSHORE_INT64) PASS(histogram(team, type, "agp"));
    if (all_direct) PASS(histogram(team, type, "direct"));
  }
  /* Each type with each operation. The strategies take turns. */
  static const char* const for_updates[] = {"exstack", "direct", "agp", "conveyor"};
  for (int type = LONGSHORE_INT32; type <= LONGSHORE_FLOAT64; ++type)
    for (int operation = LONGSHORE_SUM; operation <= LONGSHORE_AND; ++operation) {
      if (longshore_type_bytes(type) < least_bytes ||
          (operation > LONGSHORE_MAX && type >= LONGSHORE_FLOAT32))
        continue;
      PASS(update(team, type, operation, for_updates[all_direct ? (type + operation) % 4 : 0]));
    }
  PASS(wrong_requests_are_refused(team));
  PASS(halo(team, "standard", "direct", 1, fault));
  PASS(halo(team, "staged", "channel", 0, fault));
  PASS(wrong_halos_are_refused(team));
  for (int type = LONGSHORE_INT8; type <= LONGSHORE_FLOAT64; ++type)
    PASS(sort(team, type, type % 3 == 0 ? 0 : type % 3 == 1 ? 3 : 20, 0));
  PASS(sort(team, LONGSHORE_FLOAT32, 0, 0));
  PASS(sort(team, LONGSHORE_INT64, 0, 0));
  PASS(sort(team, LONGSHORE_INT64, 56, 251));
  PASS(sort(team, LONGSHORE_INT8, 0, 100));
  PASS(splitters_by_name(team));
  PASS(wrong_sorts_are_refused(team));
  PASS(other_arguments_are_refused(team));
  PASS(wrong_arguments_of_one_rank(team));
  PASS(stream(team));
  const int is_thread = strcmp(longshore_team_transport(team), "threads") == 0,
            rank = longshore_team_rank(team);
  CHECK(rank < most_threads);
  return leave_in_flight(team, test->in_flight[is_thread ? rank : 0]);
}

/* Returns 2, a value of the program's own, after a call failed with another code. */
static int returns_two(longshore_team* team, void* context) {
  (void)context;
  CHECK_REFUSED(longshore_barrier(NULL), LONGSHORE_ERROR_USAGE, "NULL");
  CHECK_OK(longshore_barrier(team));
  return 2;
}

static int fails_on_last_rank(longshore_team* team, void* context) {
  if (longshore_team_rank(team) < longshore_team_size(team) - 1) return longshore_barrier(team);
  return context == NULL ? 7
                         : longshore_fail(LONGSHORE_ERROR_UNSUPPORTED, "a message of the program");
}

int main(int argc, char** argv) {
  struct test_context test = {0};
  test.fault = argc > 1 && strcmp(argv[1], "--fault") == 0;
  /* a failure of one rank ends the run with the message of that rank */
  if (argc > 1 && strcmp(argv[1], "--refuse") == 0) {
    const int code = longshore_run(argc, argv, fails_on_last_rank, NULL);
    if (code == LONGSHORE_ERROR_PROGRAM) puts(longshore_error_message());
    if (longshore_run(argc, argv, returns_two, NULL) != LONGSHORE_ERROR_PROGRAM) return 1;
    if (longshore_run(argc, argv, fails_on_last_rank, &argc) == LONGSHORE_ERROR_UNSUPPORTED)
      puts(longshore_error_message());
    return 1;
  }
  if (strcmp(longshore_error_message(), "") != 0 || strcmp(longshore_error_name(4), "timeout") != 0)
    return 2;
  if (longshore_run(argc, argv, NULL, NULL) != LONGSHORE_ERROR_USAGE) return 3;
  const int code = longshore_run(argc, argv, run_all_checks, &test);
  if (code == LONGSHORE_OK) {
    for (int i = 0; i < 27; ++i)
      if (test.in_flight[0][i] < 7) return 4;
    return 0;
  }
  fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return 1;
}
