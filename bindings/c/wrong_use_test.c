/* Wrong uses of the C interface are refused with a message, and the run continues: NULL handles,
 * calls from another thread, numbers out of range, calls in the wrong order. With `--freed` the
 * program uses a freed handle, which only a sanitizer detects. */
#include "checked.h"

#include <pthread.h>
#include <stdlib.h>

#define NULL_REFUSED(call) CHECK_REFUSED(call, LONGSHORE_ERROR_USAGE, "is NULL")

static int null_is_refused(longshore_team* team, longshore_array* table) {
  longshore_array* array = NULL;
  longshore_gather_plan* gather = NULL;
  longshore_grid* grid = NULL;
  longshore_memory* memory = NULL;
  longshore_sorter* sorter = NULL;
  longshore_stream* stream = NULL;
  const int64_t first = 0;
  int64_t out[2] = {0};
  int32_t some = 0;
  NULL_REFUSED(longshore_barrier(NULL));
  NULL_REFUSED(longshore_broadcast(NULL, &some, 4, 0));
  NULL_REFUSED(longshore_allreduce(NULL, &some, 1, LONGSHORE_INT32, LONGSHORE_SUM));
  NULL_REFUSED(longshore_reduce(NULL, &some, 1, LONGSHORE_INT32, LONGSHORE_SUM, 0));
  NULL_REFUSED(longshore_allgather(NULL, &some, 4, out));
  NULL_REFUSED(longshore_alltoall(NULL, &some, 4, out));
  NULL_REFUSED(longshore_array_create(NULL, LONGSHORE_INT64, 0, 10, NULL, &array));
  NULL_REFUSED(longshore_array_create(team, LONGSHORE_INT64, 0, 10, NULL, NULL));
  NULL_REFUSED(longshore_array_create_block_cyclic(team, LONGSHORE_INT64, 0, 10, 2, NULL));
  NULL_REFUSED(longshore_gather_create(NULL, NULL, &gather));
  NULL_REFUSED(longshore_gather_create(table, NULL, NULL));
  NULL_REFUSED(longshore_gather_run(NULL, &first, 1, out));
  NULL_REFUSED(longshore_gather(table, &first, 1, NULL, NULL));
  NULL_REFUSED(longshore_gather(table, NULL, 1, out, NULL));
  NULL_REFUSED(longshore_scatter_run(NULL, &first, 1, out));
  NULL_REFUSED(longshore_scatter(NULL, &first, 1, out, NULL));
  NULL_REFUSED(longshore_histogram_run(NULL, &first, 1, NULL));
  NULL_REFUSED(longshore_update(table, &first, 1, NULL, LONGSHORE_MIN, NULL));
  NULL_REFUSED(longshore_grid_create(NULL, NULL, &grid));
  NULL_REFUSED(longshore_grid_create(team, NULL, NULL));
  NULL_REFUSED(longshore_memory_create(NULL, 10, &memory, NULL));
  NULL_REFUSED(longshore_halo_create(NULL, NULL, NULL, 1, NULL));
  NULL_REFUSED(longshore_halo_start(NULL));
  NULL_REFUSED(longshore_halo_wait(NULL));
  NULL_REFUSED(longshore_halo_test(NULL, NULL));
  NULL_REFUSED(longshore_halo_exchange(NULL));
  NULL_REFUSED(longshore_sorter_create(NULL, LONGSHORE_INT64, 0, NULL, &sorter));
  NULL_REFUSED(longshore_sorter_run(NULL, &some, NULL, 1, NULL));
  NULL_REFUSED(longshore_sorter_result(NULL, &some, NULL));
  NULL_REFUSED(longshore_stream_create(NULL, LONGSHORE_FLOAT64, 10, NULL, &stream));
  NULL_REFUSED(longshore_stream_run(NULL));
  CHECK(array == NULL && gather == NULL && grid == NULL && memory == NULL && sorter == NULL &&
        stream == NULL);
  CHECK_OK(longshore_array_free(NULL));
  CHECK_OK(longshore_gather_free(NULL));
  CHECK_OK(longshore_scatter_free(NULL));
  CHECK_OK(longshore_histogram_free(NULL));
  CHECK_OK(longshore_update_free(NULL));
  CHECK_OK(longshore_memory_free(NULL));
  CHECK_OK(longshore_halo_free(NULL));
  CHECK_OK(longshore_sorter_free(NULL));
  CHECK_OK(longshore_stream_free(NULL));
  CHECK_OK(longshore_finalize(NULL));
  CHECK_REFUSED(longshore_finalize(team), LONGSHORE_ERROR_USAGE, "longshore_run");
  return LONGSHORE_OK;
}

static int wrong_numbers_are_refused(longshore_team* team, longshore_array* table) {
  const int64_t index = 0;
  int64_t out[27] = {0};
  longshore_array* array = NULL;
  longshore_halo* plan = NULL;
  longshore_grid* grid = NULL;
  longshore_sorter* sorter = NULL;
  longshore_stream* stream = NULL;
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_INT64, 0, INT64_MIN, NULL, &array),
                LONGSHORE_ERROR_USAGE, "0 or more");
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_INT64, 0, INT64_MAX, NULL, &array),
                LONGSHORE_ERROR_OUT_OF_MEMORY, "memory");
  CHECK_REFUSED(
      longshore_array_create_block_cyclic(team, LONGSHORE_INT64, 0, INT64_MAX, INT64_MAX, &array),
      LONGSHORE_ERROR_OUT_OF_MEMORY, "memory");
  /* one block, on rank 0 */
  CHECK_OK(longshore_array_create_block_cyclic(team, LONGSHORE_INT64, 0, 3, INT64_MAX, &array));
  CHECK(longshore_array_local_size(array) == (longshore_team_rank(team) == 0 ? 3 : 0));
  CHECK(longshore_array_owner(array, 2, NULL) == 0 && longshore_array_owner(array, 3, NULL) == -1);
  CHECK_OK(longshore_array_free(array));
  CHECK_REFUSED(longshore_array_create(team, 12, 0, 10, NULL, &array), LONGSHORE_ERROR_USAGE,
                "longshore_type");
  CHECK_REFUSED(longshore_array_create(team, LONGSHORE_BYTES, 16, 10, NULL, &array),
                LONGSHORE_ERROR_USAGE, "4 or 8");
  CHECK_REFUSED(longshore_gather(table, &index, -1, out, NULL), LONGSHORE_ERROR_USAGE, "0 or more");
  CHECK(longshore_array_index(table, -1) == -1 && longshore_array_owner(table, -1, NULL) == -1);
  const struct longshore_gather_options hops = {.strategy = "conveyor", .hops = 9},
                                        items = {.buffer_items = -4};
  CHECK_REFUSED(longshore_gather(table, &index, 1, out, &hops), LONGSHORE_ERROR_USAGE, "1, 2 or 3");
  CHECK_REFUSED(longshore_gather(table, &index, 1, out, &items), LONGSHORE_ERROR_USAGE,
                "buffer_items is -4");

  CHECK_REFUSED(longshore_allgather(team, out, SIZE_MAX, out), LONGSHORE_ERROR_USAGE,
                "more than any memory");
  CHECK_REFUSED(longshore_alltoall(team, out, SIZE_MAX, out), LONGSHORE_ERROR_USAGE,
                "more than any memory");

  static const int one[3] = {1, 1, 1}, many[3] = {1, 1, 2}, below[3] = {-1, 1, 1};
  static const int64_t cells[3] = {1, 1, 1};
  struct longshore_field field;
  CHECK_OK(longshore_grid_create(team, NULL, &grid));
  longshore_field_dense(&field, out, LONGSHORE_INT64, cells, one, one);
  const struct longshore_halo_options wide = {.low = one, .high = many},
                                      negative = {.low = below, .high = one};
  CHECK_REFUSED(longshore_halo_create(grid, &wide, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "halo");
  CHECK_REFUSED(longshore_halo_create(grid, &negative, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "-1");
  CHECK_REFUSED(longshore_halo_create(grid, NULL, &field, 0, &plan), LONGSHORE_ERROR_USAGE,
                "1 or more");
  field.extents[1] = -3;
  CHECK_REFUSED(longshore_halo_create(grid, NULL, &field, 1, &plan), LONGSHORE_ERROR_USAGE,
                "1 or more");
  longshore_field_dense(&field, out, LONGSHORE_INT64, cells, one, one);
  CHECK_OK(longshore_halo_create(grid, NULL, &field, 1, &plan));
  CHECK_REFUSED(longshore_halo_wait(plan), LONGSHORE_ERROR_USAGE, "start");
  CHECK_OK(longshore_halo_start(plan));
  CHECK_REFUSED(longshore_halo_start(plan), LONGSHORE_ERROR_USAGE, "wait");
  CHECK_OK(longshore_halo_wait(plan));
  CHECK_OK(longshore_halo_free(plan));
  CHECK_OK(longshore_grid_free(grid));

  CHECK_REFUSED(longshore_sorter_create(team, LONGSHORE_INT64, SIZE_MAX, NULL, &sorter),
                LONGSHORE_ERROR_USAGE, "at most 56");
  CHECK_OK(longshore_sorter_create(team, LONGSHORE_INT64, 0, NULL, &sorter));
  CHECK_REFUSED(longshore_sorter_run(sorter, out, NULL, -1, NULL), LONGSHORE_ERROR_USAGE,
                "0 or more");
  /* the sorter has no result yet, so nothing is written */
  CHECK_OK(longshore_sorter_result(sorter, NULL, NULL));
  CHECK_OK(longshore_sorter_free(sorter));
  const struct longshore_stream_options tasks = {.tasks = "threads", .task_count = -1};
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, -1, NULL, &stream),
                LONGSHORE_ERROR_USAGE, "0 or more");
  CHECK_REFUSED(longshore_stream_create(team, LONGSHORE_FLOAT64, 10, &tasks, &stream),
                LONGSHORE_ERROR_USAGE, "-1");
  return LONGSHORE_OK;
}

struct handles {
  longshore_team* team;
  longshore_array* table;
  longshore_gather_plan* plan;
  int status;
};

static int calls_are_refused_there(const struct handles* made) {
  const int64_t first = 0;
  int64_t out = 0;
  longshore_array* array = NULL;
  CHECK(strcmp(longshore_error_message(), "") == 0); /* each thread has its own message */
  CHECK_REFUSED(longshore_barrier(made->team), LONGSHORE_ERROR_USAGE, "another thread");
  CHECK_REFUSED(longshore_array_create(made->team, LONGSHORE_INT64, 0, 1, NULL, &array),
                LONGSHORE_ERROR_USAGE, "another thread");
  CHECK_REFUSED(longshore_gather_run(made->plan, &first, 1, &out), LONGSHORE_ERROR_USAGE,
                "another thread");
  CHECK_REFUSED(longshore_gather(made->table, &first, 1, &out, NULL), LONGSHORE_ERROR_USAGE,
                "another thread");
  CHECK_REFUSED(longshore_gather_free(made->plan), LONGSHORE_ERROR_USAGE, "another thread");
  CHECK_REFUSED(longshore_array_free(made->table), LONGSHORE_ERROR_USAGE, "another thread");
  return LONGSHORE_OK;
}
static void* in_another_thread(void* given) {
  struct handles* const made = given;
  made->status = calls_are_refused_there(made);
  return NULL;
}

static int another_thread_is_refused(longshore_team* team, longshore_array* table) {
  struct handles made = {team, table, NULL, LONGSHORE_OK};
  CHECK_OK(longshore_gather_create(table, NULL, &made.plan));
  longshore_fail(LONGSHORE_ERROR_USAGE, "said here");
  pthread_t other;
  CHECK(pthread_create(&other, NULL, in_another_thread, &made) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(made.status == LONGSHORE_OK);
  CHECK(strcmp(longshore_error_message(), "said here") == 0);
  CHECK_OK(longshore_gather_free(made.plan));
  return LONGSHORE_OK;
}

static int run_all_checks(longshore_team* team, void* context) {
  const int use_a_freed_handle = *(const int*)context;
  longshore_array* table = NULL;
  CHECK_OK(longshore_array_create(team, LONGSHORE_INT64, 0, 10, NULL, &table));
  if (use_a_freed_handle) {
    CHECK_OK(longshore_array_free(table));
    return longshore_array_free(table);
  }
  int status = null_is_refused(team, table);
  if (status == LONGSHORE_OK) status = wrong_numbers_are_refused(team, table);
  if (status == LONGSHORE_OK) status = another_thread_is_refused(team, table);
  if (status != LONGSHORE_OK) return status;
  /* No refused call makes other ranks wait: the next collective call works. */
  int64_t sum = 1;
  CHECK_OK(longshore_allreduce(team, &sum, 1, LONGSHORE_INT64, LONGSHORE_SUM));
  CHECK(sum == longshore_team_size(team));
  return LONGSHORE_OK;
}

int main(int argc, char** argv) {
  int use_a_freed_handle = argc > 1 && strcmp(argv[1], "--freed") == 0;
  const int code = longshore_run(argc, argv, run_all_checks, &use_a_freed_handle);
  if (code != LONGSHORE_OK)
    fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return code == LONGSHORE_OK ? 0 : 1;
}
