/* Tests sums over copies of cells, fields of vertices, and parts of halo plans, against a serial
 * oracle: each rank computes the cells of all ranks itself. Values are integers, so sums are
 * exact. */
#include "checked.h"

#include <stdlib.h>

/* The cells of each rank. The domain is open along x and periodic along y and z. */
static const int cells[3] = {4, 3, 5};
enum { most_cells = 16 * 16 * 16, most_places = 1 << 15, items = 2 };

/* A field of float64 with `items` numbers in a cell. */
struct block {
  int shared, width;
  struct longshore_field field;
  double memory[most_cells * items];
};

static int extent(const struct block* b, int d) { return cells[d] + b->shared; }

static double* at(const struct block* b, const int cell[3]) {
  const int64_t* const strides = b->field.strides;
  return (double*)b->field.first +
         items * (cell[0] * strides[0] + cell[1] * strides[1] + cell[2] * strides[2]);
}

static void make_block(struct block* b, int shared, int width) {
  int64_t extents[3];
  for (int d = 0; d < 3; ++d) extents[d] = cells[d] + shared;
  const int widths[3] = {width, width, width};
  b->shared = shared, b->width = width;
  longshore_field_dense(&b->field, b->memory, LONGSHORE_FLOAT64, extents, widths, widths);
  int64_t first = 0;
  for (int d = 0; d < 3; ++d) first += width * b->field.strides[d];
  b->field.first = b->memory + items * first;
  b->field.items = items;
  for (int d = 0; d < 3; ++d) b->field.shared[d] = shared;
}

/* The place of a cell of a rank in the whole domain; -1 beyond the domain. */
static int place_of(const struct block* b, const int shape[3], int rank, const int cell[3]) {
  const int block[3] = {rank % shape[0], rank / shape[0] % shape[1], rank / shape[0] / shape[1]};
  int place[3], size[3];
  for (int d = 0; d < 3; ++d) {
    place[d] = block[d] * cells[d] + cell[d];
    size[d] = shape[d] * cells[d];
    if (d > 0) place[d] = (place[d] + size[d]) % size[d];
  }
  size[0] += b->shared;
  if (place[0] < 0 || place[0] >= size[0]) return -1;
  return place[0] + size[0] * (place[1] + size[1] * place[2]);
}

/* Whether a cell belongs to the block of this rank, or is a copy. */
static int is_own(const struct block* b, const int block[3], const int cell[3]) {
  for (int d = 0; d < 3; ++d) {
    const int has_low = d > 0 || block[d] > 0;
    if (cell[d] < (has_low ? b->shared : 0) || cell[d] >= extent(b, d)) return 0;
  }
  return 1;
}

static double value_of(int rank, const int cell[3], int item) {
  return (rank * 37 + (cell[0] + 2) * 11 + (cell[1] + 2) * 5 + (cell[2] + 2) * 3 + item) % 64;
}

/* Steps to the next cell of a block with its halo, x first; 0 at the end. */
static int next_cell(const struct block* b, int cell[3]) {
  for (int d = 0; d < 3; ++d) {
    if (++cell[d] < extent(b, d) + b->width) return 1;
    cell[d] = -b->width;
  }
  return 0;
}

static double combined(int reduction, double a, double b) {
  if (reduction == LONGSHORE_SUM) return a + b;
  return (reduction == LONGSHORE_MIN) == (a < b) ? a : b;
}

static void fill(struct block* b, int rank) {
  int cell[3] = {-b->width, -b->width, -b->width};
  do
    for (int i = 0; i < items; ++i) at(b, cell)[i] = value_of(rank, cell, i);
  while (next_cell(b, cell));
}

/* Combines the values of each place over all ranks. `counts` is 0 for a place that nobody has
 * yet. */
static void combine_all(const struct block* b, const int shape[3], int reduction,
                        double (*results)[items], int* counts) {
  memset(counts, 0, most_places * sizeof *counts);
  for (int rank = 0; rank < shape[0] * shape[1] * shape[2]; ++rank) {
    int cell[3] = {-b->width, -b->width, -b->width};
    do {
      const int place = place_of(b, shape, rank, cell);
      if (place < 0) continue;
      for (int i = 0; i < items; ++i) {
        const double value = value_of(rank, cell, i);
        results[place][i] =
            counts[place] == 0 ? value : combined(reduction, results[place][i], value);
      }
      ++counts[place];
    } while (next_cell(b, cell));
  }
}

/* Checks a block after an accumulate or assemble. */
static int check_combined(const struct block* b, const longshore_grid* grid, int rank,
                          int reduction, int is_assembled) {
  static _Thread_local double results[most_places][items];
  static _Thread_local int counts[most_places];
  int shape[3], block[3], copies = 0;
  longshore_grid_shape(grid, shape);
  longshore_grid_coordinates(grid, block);
  combine_all(b, shape, reduction, results, counts);
  int cell[3] = {-b->width, -b->width, -b->width};
  do {
    const int place = place_of(b, shape, rank, cell);
    const int is_result = place >= 0 && (is_assembled || is_own(b, block, cell));
    copies += place >= 0 && counts[place] > 1;
    for (int i = 0; i < items; ++i)
      CHECK(at(b, cell)[i] == (is_result ? results[place][i] : value_of(rank, cell, i)));
  } while (next_cell(b, cell));
  CHECK(copies > 0);
  return LONGSHORE_OK;
}

/* Combines cells with a halo, and vertices with and without a halo, by one plan. */
static int accumulates_and_assembles(longshore_team* team, const longshore_grid* grid,
                                     const char* mode) {
  static const int reductions[3] = {LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX};
  static const int layers[3][2] = {{0, 1}, {1, 0}, {1, 1}}; /* shared, width */
  const int rank = longshore_team_rank(team);
  struct block* const blocks = calloc(3, sizeof *blocks);
  struct longshore_field fields[3];
  for (int f = 0; f < 3; ++f) {
    make_block(&blocks[f], layers[f][0], layers[f][1]);
    fields[f] = blocks[f].field;
  }
  longshore_halo* plan = NULL;
  const struct longshore_halo_options options = {.mode = mode};
  CHECK_OK(longshore_halo_create(grid, &options, fields, 3, &plan));
  struct longshore_traffic moved = {.payload_bytes = -1};
  CHECK_OK(longshore_halo_moved_in(plan, "accumulate", &moved));
  CHECK(moved.payload_bytes == 0);
  for (int turn = 0; turn < 6; ++turn) {
    const int reduction = reductions[turn / 2], is_assembled = turn % 2;
    for (int f = 0; f < 3; ++f) fill(&blocks[f], rank);
    CHECK_OK(longshore_barrier(team));
    if (turn < 3) {
      CHECK_OK(is_assembled ? longshore_halo_assemble(plan, reduction, NULL)
                            : longshore_halo_accumulate(plan, reduction, NULL));
    } else {
      CHECK_OK(is_assembled ? longshore_halo_start_assemble(plan, reduction, NULL)
                            : longshore_halo_start_accumulate(plan, reduction, NULL));
      CHECK_REFUSED(longshore_halo_free(plan), LONGSHORE_ERROR_USAGE, "in flight");
      CHECK_REFUSED(longshore_halo_accumulate(plan, reduction, NULL), LONGSHORE_ERROR_USAGE,
                    "started twice");
      int complete = 0;
      if (turn == 3) CHECK_OK(longshore_halo_wait(plan));
      while (turn > 3 && !complete) CHECK_OK(longshore_halo_test(plan, &complete));
    }
    for (int f = 0; f < 3; ++f)
      PASS(check_combined(&blocks[f], grid, rank, reduction, is_assembled));
  }
  /* A part of the fields: the last and the first. */
  const int two[2] = {2, 0};
  const struct longshore_part part = {.fields = two, .count = 2};
  for (int is_assembled = 0; is_assembled < 2; ++is_assembled) {
    for (int f = 0; f < 3; ++f) fill(&blocks[f], rank);
    CHECK_OK(longshore_barrier(team));
    CHECK_OK(is_assembled ? longshore_halo_assemble(plan, LONGSHORE_SUM, &part)
                          : longshore_halo_accumulate(plan, LONGSHORE_SUM, &part));
    PASS(check_combined(&blocks[0], grid, rank, LONGSHORE_SUM, is_assembled));
    PASS(check_combined(&blocks[2], grid, rank, LONGSHORE_SUM, is_assembled));
    const int corner[3] = {0, 0, 0};
    CHECK(at(&blocks[1], corner)[0] == value_of(rank, corner, 0));
  }
  struct longshore_traffic exchanged, assembled;
  longshore_halo_moved(plan, &exchanged);
  CHECK_OK(longshore_halo_moved_in(plan, NULL, &moved));
  CHECK(moved.payload_bytes == exchanged.payload_bytes && moved.messages == exchanged.messages);
  CHECK_OK(longshore_halo_moved_in(plan, "accumulate", &moved));
  CHECK_OK(longshore_halo_moved_in(plan, "assemble", &assembled));
  CHECK(moved.payload_bytes > 0 && assembled.payload_bytes > moved.payload_bytes);
  CHECK_REFUSED(longshore_halo_moved_in(plan, "swap", &moved), LONGSHORE_ERROR_USAGE,
                "allowed are exchange, accumulate, assemble");
  CHECK_OK(longshore_halo_free(plan));
  free(blocks);
  return LONGSHORE_OK;
}

/* A value that all copies of a place on a rank have. */
static double value_at(int rank, int place, int item) {
  return (rank * 37 + place * 11 + item * 5) % 64;
}

static void mix(void* context, const struct longshore_combine_batch* batch) {
  *(int64_t*)context += batch->count;
  for (int64_t i = 0; i < batch->count; ++i)
    for (int item = 0; item < items; ++item) {
      double* const element = (double*)element_of(batch, i) + item;
      *element = mixed(batch->field, *element, ((const double*)ghost_of(batch, i))[item]);
    }
}

/* The values that owners have after copies were mixed in, in the order of ranks. */
static void mix_all(const struct block* b, int field, const int shape[3],
                    double (*results)[items]) {
  for (int of_copies = 0; of_copies < 2; ++of_copies)
    for (int rank = 0; rank < shape[0] * shape[1] * shape[2]; ++rank) {
      const int block[3] = {rank % shape[0], rank / shape[0] % shape[1],
                            rank / shape[0] / shape[1]};
      int cell[3] = {-b->width, -b->width, -b->width};
      do {
        const int place = place_of(b, shape, rank, cell);
        if (place < 0 || is_own(b, block, cell) == of_copies) continue;
        for (int i = 0; i < items; ++i) {
          const double value = value_at(rank, place, i);
          results[place][i] = of_copies ? mixed(field, results[place][i], value) : value;
        }
      } while (next_cell(b, cell));
    }
}

/* Fills a block, or checks it after an accumulate or assemble by mix(). */
static int fill_or_check(const struct block* b, int field, const longshore_grid* grid, int rank,
                         int fills, int is_combined, int is_assembled) {
  static _Thread_local double results[most_places][items];
  int shape[3], block[3];
  longshore_grid_shape(grid, shape);
  longshore_grid_coordinates(grid, block);
  if (!fills) mix_all(b, field, shape, results);
  int cell[3] = {-b->width, -b->width, -b->width};
  do {
    const int place = place_of(b, shape, rank, cell);
    const int is_result = place >= 0 && is_combined && (is_assembled || is_own(b, block, cell));
    for (int i = 0; i < items; ++i)
      if (fills)
        at(b, cell)[i] = place < 0 ? -1 : value_at(rank, place, i);
      else if (is_result)
        CHECK(at(b, cell)[i] == results[place][i]);
      else
        CHECK(at(b, cell)[i] == (place < 0 ? -1 : value_at(rank, place, i)));
  } while (next_cell(b, cell));
  return LONGSHORE_OK;
}

/* Sums by a function: of all fields, and of a part with the last and the first field. */
static int functions(longshore_team* team, const longshore_grid* grid, const char* mode) {
  static const int layers[3][2] = {{0, 1}, {1, 0}, {1, 1}}, two[2] = {2, 0};
  static const struct longshore_part some = {.fields = two, .count = 2};
  const int rank = longshore_team_rank(team);
  struct block* const blocks = calloc(3, sizeof *blocks);
  struct longshore_field fields[3];
  for (int f = 0; f < 3; ++f) {
    make_block(&blocks[f], layers[f][0], layers[f][1]);
    fields[f] = blocks[f].field;
  }
  longshore_halo* plan = NULL;
  const struct longshore_halo_options options = {.mode = mode};
  CHECK_OK(longshore_halo_create(grid, &options, fields, 3, &plan));
  CHECK_REFUSED(longshore_halo_accumulate_by(plan, NULL, NULL, NULL), LONGSHORE_ERROR_USAGE,
                "function of an accumulate or assemble is NULL");
  CHECK_REFUSED(longshore_halo_start_assemble_by(plan, NULL, NULL, &some), LONGSHORE_ERROR_USAGE,
                "is NULL");
  for (int turn = 0; turn < 8; ++turn) {
    const int is_assembled = turn % 2;
    const struct longshore_part* const part = turn < 4 ? NULL : &some;
    int64_t pairs = 0;
    for (int f = 0; f < 3; ++f) PASS(fill_or_check(&blocks[f], f, grid, rank, 1, 0, 0));
    CHECK_OK(longshore_barrier(team));
    if (turn % 4 < 2) {
      CHECK_OK(is_assembled ? longshore_halo_assemble_by(plan, mix, &pairs, part)
                            : longshore_halo_accumulate_by(plan, mix, &pairs, part));
    } else {
      CHECK_OK(is_assembled ? longshore_halo_start_assemble_by(plan, mix, &pairs, part)
                            : longshore_halo_start_accumulate_by(plan, mix, &pairs, part));
      CHECK_OK(longshore_halo_wait(plan));
    }
    CHECK(pairs > 0);
    for (int f = 0; f < 3; ++f)
      PASS(fill_or_check(&blocks[f], f, grid, rank, 0, part == NULL || f != 1, is_assembled));
  }
  CHECK_OK(longshore_halo_free(plan));
  free(blocks);
  return LONGSHORE_OK;
}

/* Checks that a block has the values of the owners in the halo cells of these widths, and only
 * there. Other halo cells are -1. */
static int check_exchanged(const struct block* b, const longshore_grid* grid, const int low[3],
                           const int high[3], double salt) {
  int shape[3], block[3];
  longshore_grid_shape(grid, shape);
  longshore_grid_coordinates(grid, block);
  const int rank = block[0] + shape[0] * (block[1] + shape[1] * block[2]);
  int cell[3] = {-b->width, -b->width, -b->width};
  do {
    const int place = place_of(b, shape, rank, cell);
    int is_filled = place >= 0;
    for (int d = 0; d < 3; ++d)
      is_filled = is_filled && cell[d] >= -low[d] && cell[d] < extent(b, d) + high[d];
    CHECK(at(b, cell)[0] == (is_filled ? salt + place : -1));
  } while (next_cell(b, cell));
  return LONGSHORE_OK;
}

static void fill_interior(struct block* b, const longshore_grid* grid, int rank, double salt) {
  int shape[3];
  longshore_grid_shape(grid, shape);
  int cell[3] = {-b->width, -b->width, -b->width};
  do {
    int is_interior = 1;
    for (int d = 0; d < 3; ++d) is_interior = is_interior && cell[d] >= 0 && cell[d] < extent(b, d);
    at(b, cell)[0] = is_interior ? salt + place_of(b, shape, rank, cell) : -1;
  } while (next_cell(b, cell));
}

/* Exchanges parts of a plan of three fields. Fields outside of a part keep their halo. */
static int parts(longshore_team* team, const longshore_grid* grid, const char* mode) {
  static const int none[3] = {0, 0, 0}, one[3] = {1, 1, 1}, two[3] = {2, 2, 2},
                   mixed[3] = {2, 0, 1};
  static const int last_and_first[2] = {2, 0}, middle[1] = {1};
  const struct longshore_part narrow = {.fields = last_and_first, .count = 2, .width = 1},
                              sides = {.fields = middle, .count = 1, .low = mixed, .high = one},
                              empty = {0};
  const int rank = longshore_team_rank(team);
  struct block* const blocks = calloc(3, sizeof *blocks);
  struct longshore_field fields[3];
  for (int f = 0; f < 3; ++f) {
    make_block(&blocks[f], f == 2, f == 0 ? 1 : 2);
    fields[f] = blocks[f].field;
  }
  longshore_halo* plan = NULL;
  const struct longshore_halo_options options = {.mode = mode};
  CHECK_OK(longshore_halo_create(grid, &options, fields, 3, &plan));
  for (int turn = 0; turn < 8; ++turn) {
    for (int f = 0; f < 3; ++f) fill_interior(&blocks[f], grid, rank, 1000.0 * turn + f);
    CHECK_OK(longshore_barrier(team));
    const int kind = turn % 4;
    if (kind == 0) CHECK_OK(longshore_halo_exchange_part(plan, &narrow));
    if (kind == 1) CHECK_OK(longshore_halo_start_part(plan, &sides));
    if (kind == 2) CHECK_OK(longshore_halo_start_part(plan, turn == 2 ? &empty : NULL));
    if (kind == 3) CHECK_OK(longshore_halo_exchange(plan));
    if (kind == 1) CHECK_OK(longshore_halo_wait(plan));
    for (int complete = kind != 2; !complete;) CHECK_OK(longshore_halo_test(plan, &complete));
    const int* const low[4][3] = {
        {one, none, one}, {none, mixed, none}, {one, two, two}, {one, two, two}};
    const int* const high[4][3] = {
        {one, none, one}, {none, one, none}, {one, two, two}, {one, two, two}};
    for (int f = 0; f < 3; ++f)
      PASS(check_exchanged(&blocks[f], grid, low[kind][f], high[kind][f], 1000.0 * turn + f));
  }
  CHECK_OK(longshore_halo_free(plan));
  free(blocks);
  return LONGSHORE_OK;
}

static int wrong_arguments_are_refused(longshore_team* team, const longshore_grid* grid) {
  static const int one[3] = {1, 1, 1}, beyond[2] = {0, 2}, negative[1] = {-1};
  struct block* const blocks = calloc(2, sizeof *blocks);
  make_block(&blocks[0], 0, 1);
  make_block(&blocks[1], 1, 1);
  struct longshore_field fields[2] = {blocks[0].field, blocks[1].field};
  longshore_halo* plan = NULL;
  fields[1].shared[2] = -1;
  CHECK_REFUSED(longshore_halo_create(grid, NULL, fields, 2, &plan), LONGSHORE_ERROR_USAGE,
                "shares -1 layers along z");
  fields[1].shared[2] = 1, fields[0].items = -2;
  CHECK_REFUSED(longshore_halo_create(grid, NULL, fields, 2, &plan), LONGSHORE_ERROR_USAGE,
                "-2 numbers");
  fields[0].items = items;
  CHECK_OK(longshore_halo_create(grid, NULL, fields, 2, &plan));

  const struct {
    struct longshore_part part;
    const char* words;
  } wrong[] = {
      {{.fields = beyond, .count = 2}, "field 2 of a part of a halo plan: use numbers from 0"},
      {{.fields = negative, .count = 1}, "field -1 of a part"},
      {{.fields = beyond, .count = -1}, "number of fields of a part is -1"},
      {{.fields = beyond}, "0 fields, whose list is not NULL"},
      {{.count = 1}, "1 fields, whose list is NULL"},
      {{.width = -1}, "a halo of width -1"},
      {{.low = one}, "one of low and high of a part"},
      {{.low = one, .high = one, .width = 1}, "give width, or low and high"},
      {{.reserved = {0, 0, 0, 1}}, "longshore_part"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    CHECK_REFUSED(longshore_halo_exchange_part(plan, &wrong[i].part), LONGSHORE_ERROR_USAGE,
                  wrong[i].words);
    CHECK_REFUSED(longshore_halo_start_accumulate(plan, LONGSHORE_SUM, &wrong[i].part),
                  LONGSHORE_ERROR_USAGE, wrong[i].words);
    CHECK_REFUSED(longshore_halo_assemble(plan, LONGSHORE_SUM, &wrong[i].part),
                  LONGSHORE_ERROR_USAGE, wrong[i].words);
  }
  CHECK_REFUSED(longshore_halo_accumulate(plan, LONGSHORE_XOR, NULL), LONGSHORE_ERROR_USAGE,
                "operation 4 of an accumulate or assemble");
  CHECK_REFUSED(longshore_halo_assemble(plan, LONGSHORE_OR, NULL), LONGSHORE_ERROR_USAGE,
                "integers only");
  CHECK_REFUSED(longshore_halo_accumulate(NULL, LONGSHORE_SUM, NULL), LONGSHORE_ERROR_USAGE,
                "the plan is NULL");
  CHECK_REFUSED(longshore_halo_wait(plan), LONGSHORE_ERROR_USAGE, "not started");
  CHECK_OK(longshore_halo_accumulate(plan, LONGSHORE_SUM, NULL)); /* the plan can go on */
  CHECK_OK(longshore_halo_free(plan));

  /* The last rank names a field that does not exist, and then another field. */
  const int is_other = longshore_team_rank(team) == longshore_team_size(team) - 1;
  CHECK_OK(longshore_halo_create(grid, NULL, fields, 2, &plan));
  const struct longshore_part first = {.fields = beyond, .count = 1},
                              third = {.fields = beyond + 1, .count = 1},
                              second = {.fields = one, .count = 1};
  CHECK_REFUSED_BY_ALL(longshore_halo_exchange_part(plan, is_other ? &third : &first),
                       "field 2 of a part");
  if (longshore_team_size(team) > 1)
    CHECK_REFUSED(longshore_halo_exchange_part(plan, is_other ? &second : &first),
                  LONGSHORE_ERROR_USAGE, "rank 0 passes fields 0, and rank");
  CHECK_OK(longshore_halo_exchange(plan));
  CHECK_OK(longshore_halo_free(plan));

  /* Numbers without a type cannot be combined, and bits of single integers can. */
  int64_t bits[6 * 5 * 7] = {0};
  const int64_t extents[3] = {4, 3, 5};
  struct longshore_field field;
  longshore_field_dense(&field, bits, LONGSHORE_INT64, extents, one, one);
  CHECK_OK(longshore_halo_create(grid, NULL, &field, 1, &plan));
  for (int i = 0; i < 6 * 5 * 7; ++i) bits[i] = 2;
  *(int64_t*)field.first = 5;
  CHECK_OK(longshore_halo_assemble(plan, LONGSHORE_OR, NULL));
  CHECK(*(int64_t*)field.first == 7);
  CHECK_OK(longshore_halo_free(plan));
  field.type = LONGSHORE_BYTES, field.element_bytes = sizeof(int64_t);
  CHECK_OK(longshore_halo_create(grid, NULL, &field, 1, &plan));
  CHECK_REFUSED(longshore_halo_accumulate(plan, LONGSHORE_OR, NULL), LONGSHORE_ERROR_USAGE,
                "does not have the operation");
  CHECK_OK(longshore_halo_exchange(plan));
  CHECK_OK(longshore_halo_free(plan));
  free(blocks);
  return LONGSHORE_OK;
}

/* Runs on a grid of balanced factors, and on a grid cut along x, where the domain is open. */
static int run_all(longshore_team* team, void* context) {
  (void)context;
  static const int periodic[3] = {0, 1, 1};
  static const char* const modes[2] = {"direct", "channel"};
  for (int is_cut_along_x = 0; is_cut_along_x < 2; ++is_cut_along_x) {
    struct longshore_grid_options options = {.periodic = periodic};
    if (is_cut_along_x) options.ranks[0] = longshore_team_size(team);
    longshore_grid* grid = NULL;
    CHECK_OK(longshore_grid_create(team, &options, &grid));
    for (int m = 0; m < 2; ++m) {
      PASS(accumulates_and_assembles(team, grid, modes[m]));
      PASS(functions(team, grid, modes[m]));
      PASS(parts(team, grid, modes[m]));
    }
    PASS(wrong_arguments_are_refused(team, grid));
    CHECK_OK(longshore_grid_free(grid));
  }
  return LONGSHORE_OK;
}

int main(int argc, char** argv) {
  const int code = longshore_run(argc, argv, run_all, NULL);
  if (code == LONGSHORE_OK) return 0;
  fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return 1;
}
