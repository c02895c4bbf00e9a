/* Tests layouts, exchanges and copies of boxes against a serial oracle: each rank knows the boxes
 * of all ranks, and computes the value of each cell itself. Values are integers, so sums are
 * exact. */
#include "checked.h"

#include <stdlib.h>

/* The domain, which is periodic along x and open along y and z. */
static const int64_t origin[3] = {-3, 2, 10}, size[3] = {12, 6, 5};
enum { most_boxes = 8, most_cells = 24 * 16 * 16, most_places = 12 * 7 * 6, fields = 3 };

/* The boxes of all ranks by their numbers, and their owners. */
struct decomposition {
  int count;
  struct longshore_box boxes[most_boxes];
  int owners[most_boxes];
};

/* Cuts the domain along two dimensions. A rank may get no box: with several ranks, the last one
 * gets none, or the first one if `is_reversed`. */
static struct decomposition cut(int ranks, const int d[2], const int cuts[2], const int64_t* at[2],
                                int is_reversed) {
  struct decomposition all = {0};
  const int used = ranks > 1 ? ranks - 1 : 1;
  for (int rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < cuts[0] * cuts[1]; ++i) {
      const int owner = is_reversed ? ranks - 1 - 5 * i % used : 5 * i % used;
      if (owner != rank) continue;
      struct longshore_box* const box = &all.boxes[all.count];
      for (int e = 0; e < 3; ++e) box->first[e] = origin[e], box->cells[e] = size[e];
      const int part[2] = {i % cuts[0], i / cuts[0]};
      for (int e = 0; e < 2; ++e) {
        box->first[d[e]] += at[e][part[e]];
        box->cells[d[e]] = at[e][part[e] + 1] - at[e][part[e]];
      }
      all.owners[all.count++] = rank;
    }
  return all;
}

static struct decomposition slabs(int ranks) {
  static const int64_t x[5] = {0, 3, 5, 9, 12}, y[3] = {0, 2, 6};
  return cut(ranks, (const int[2]){0, 1}, (const int[2]){4, 2}, (const int64_t* [2]){x, y}, 0);
}
static struct decomposition pencils(int ranks) {
  static const int64_t y[4] = {0, 3, 4, 6}, z[3] = {0, 2, 5};
  return cut(ranks, (const int[2]){1, 2}, (const int[2]){3, 2}, (const int64_t* [2]){y, z}, 1);
}

/* The first box of a rank in a decomposition. */
static int first_of(const struct decomposition* all, int rank) {
  int first = 0;
  while (first < all->count && all->owners[first] < rank) ++first;
  return first;
}

/* A field on the boxes of this rank. */
struct blocks {
  const struct decomposition* all;
  int first, count; /* the boxes of this rank */
  struct longshore_field views[most_boxes];
  struct longshore_box_field field;
  int taken_low[3], taken_high[3]; /* the halo that operations take */
  longshore_memory* memory;
  void* cells;
};

/* The following operations take at most this halo; NULL: they do not take the field. */
static void take(struct blocks* b, const int low[3], const int high[3]) {
  for (int d = 0; d < 3; ++d) {
    const int nothing = -1000, *const has_low = b->field.low, *const has_high = b->field.high;
    b->taken_low[d] = low == NULL ? nothing : low[d] < has_low[d] ? low[d] : has_low[d];
    b->taken_high[d] = high == NULL ? nothing : high[d] < has_high[d] ? high[d] : has_high[d];
  }
}

/* Allocates a field; in memory that other ranks read if `is_shared`. */
static int make_blocks(longshore_team* team, struct blocks* b, const struct decomposition* all,
                       int type, int shared, const int low[3], const int high[3], int is_shared) {
  const size_t bytes = longshore_type_bytes(type) * most_cells;
  *b = (struct blocks){.all = all, .first = first_of(all, longshore_team_rank(team))};
  b->count = first_of(all, longshore_team_rank(team) + 1) - b->first;
  if (is_shared)
    CHECK_OK(longshore_memory_create(team, most_boxes * bytes, &b->memory, &b->cells));
  else
    b->cells = calloc(most_boxes, bytes);
  for (int i = 0; i < b->count; ++i) {
    int64_t extents[3];
    for (int d = 0; d < 3; ++d) extents[d] = all->boxes[b->first + i].cells[d] + shared;
    longshore_field_dense(&b->views[i], (char*)b->cells + (size_t)i * bytes, type, extents, low,
                          high);
  }
  b->field = (struct longshore_box_field){.boxes = b->views, .count = b->count, .type = type};
  for (int d = 0; d < 3; ++d)
    b->field.low[d] = low[d], b->field.high[d] = high[d], b->field.shared[d] = shared;
  take(b, low, high);
  return LONGSHORE_OK;
}

static int free_blocks(struct blocks* b) {
  if (b->memory == NULL) free(b->cells);
  CHECK_OK(longshore_memory_free(b->memory));
  return LONGSHORE_OK;
}

static int shared_of(const struct blocks* b) { return b->field.shared[0]; }

/* Whether a cell is one of the box, and not of its halo. Cells are counted from the first cell. */
static int is_inside(const struct blocks* b, int box, const int64_t cell[3]) {
  for (int d = 0; d < 3; ++d)
    if (cell[d] < 0 || cell[d] >= b->all->boxes[box].cells[d] + shared_of(b)) return 0;
  return 1;
}

/* Whether operations take a cell of the box or of its halo. */
static int is_taken(const struct blocks* b, int box, const int64_t cell[3]) {
  for (int d = 0; d < 3; ++d)
    if (cell[d] < -b->taken_low[d] ||
        cell[d] >= b->all->boxes[box].cells[d] + shared_of(b) + b->taken_high[d])
      return 0;
  return 1;
}

static void first_cell(const struct blocks* b, int64_t cell[3]) {
  for (int d = 0; d < 3; ++d) cell[d] = -b->field.low[d];
}

/* Steps to the next cell of a box with its halo, x first; 0 at the end. */
static int next_cell(const struct blocks* b, int box, int64_t cell[3]) {
  for (int d = 0; d < 3; ++d) {
    if (++cell[d] < b->all->boxes[box].cells[d] + shared_of(b) + b->field.high[d]) return 1;
    cell[d] = -b->field.low[d];
  }
  return 0;
}

/* The place of a cell in the domain; -1 beyond it. */
static int place_of(const struct blocks* b, int box, const int64_t cell[3]) {
  int64_t at[3];
  for (int d = 0; d < 3; ++d) at[d] = b->all->boxes[box].first[d] + cell[d] - origin[d];
  at[0] = (at[0] + size[0]) % size[0];
  const int64_t ny = size[1] + shared_of(b), nz = size[2] + shared_of(b);
  if (at[1] < 0 || at[1] >= ny || at[2] < 0 || at[2] >= nz) return -1;
  return (int)(at[0] + size[0] * (at[1] + ny * at[2]));
}

static double value_of(int box, const int64_t cell[3]) {
  return (double)((box * 37 + (cell[0] + 3) * 11 + (cell[1] + 3) * 5 + (cell[2] + 3) * 3) % 64);
}

static double get(const struct blocks* b, int box, const int64_t cell[3]) {
  const struct longshore_field* const view = &b->views[box - b->first];
  const int64_t at =
      cell[0] * view->strides[0] + cell[1] * view->strides[1] + cell[2] * view->strides[2];
  return view->type == LONGSHORE_INT32 ? ((int32_t*)view->first)[at] : ((double*)view->first)[at];
}

static void set(const struct blocks* b, int box, const int64_t cell[3], double value) {
  const struct longshore_field* const view = &b->views[box - b->first];
  const int64_t at =
      cell[0] * view->strides[0] + cell[1] * view->strides[1] + cell[2] * view->strides[2];
  if (view->type == LONGSHORE_INT32)
    ((int32_t*)view->first)[at] = (int32_t)value;
  else
    ((double*)view->first)[at] = value;
}

/* Fills cells with the numbers of their places plus `salt`, and halos with -1. */
static void fill_places(const struct blocks* b, double salt) {
  for (int box = b->first; box < b->first + b->count; ++box) {
    int64_t cell[3];
    first_cell(b, cell);
    do set(b, box, cell, is_inside(b, box, cell) ? salt + place_of(b, box, cell) : -1);
    while (next_cell(b, box, cell));
  }
}

/* Checks cells, and halos that are filled if `has_halo`. */
static int check_places(const struct blocks* b, double salt, int has_halo) {
  for (int box = b->first; box < b->first + b->count; ++box) {
    int64_t cell[3];
    first_cell(b, cell);
    do {
      const int place = place_of(b, box, cell);
      const int is_filled =
          place >= 0 && (is_inside(b, box, cell) || (has_halo && is_taken(b, box, cell)));
      CHECK(get(b, box, cell) == (is_filled ? salt + place : -1));
    } while (next_cell(b, box, cell));
  }
  return LONGSHORE_OK;
}

static void fill_values(const struct blocks* b) {
  for (int box = b->first; box < b->first + b->count; ++box) {
    int64_t cell[3];
    first_cell(b, cell);
    do set(b, box, cell, value_of(box, cell));
    while (next_cell(b, box, cell));
  }
}

/* Checks the cells after an accumulate or assemble of values. */
static int check_combined(const struct blocks* b, int reduction, int is_assembled) {
  double results[most_places];
  int owners[most_places], counts[most_places] = {0}, copies = 0;
  for (int place = 0; place < most_places; ++place) owners[place] = -1;
  for (int box = 0; box < b->all->count; ++box) {
    int64_t cell[3];
    first_cell(b, cell);
    do {
      const int place = place_of(b, box, cell);
      if (place < 0 || !is_taken(b, box, cell)) continue;
      const double value = value_of(box, cell);
      const double old = results[place];
      if (counts[place]++ == 0)
        results[place] = value;
      else if (reduction == LONGSHORE_SUM)
        results[place] = old + value;
      else
        results[place] = value > old ? value : old;
      if (owners[place] < 0 && is_inside(b, box, cell)) owners[place] = box;
    } while (next_cell(b, box, cell));
  }
  for (int box = b->first; box < b->first + b->count; ++box) {
    int64_t cell[3];
    first_cell(b, cell);
    do {
      const int place = place_of(b, box, cell);
      const int is_in_part = place >= 0 && is_taken(b, box, cell);
      const int is_owner = is_in_part && owners[place] == box && is_inside(b, box, cell);
      const int is_result = is_in_part && (is_assembled || is_owner);
      copies += place >= 0 && counts[place] > 1;
      CHECK(get(b, box, cell) == (is_result ? results[place] : value_of(box, cell)));
    } while (next_cell(b, box, cell));
  }
  CHECK(copies > 0 || b->count == 0 || b->taken_low[0] < 0);
  return LONGSHORE_OK;
}

/* A value that all copies of a place on a box have. */
static double value_at(int box, int place) { return (box * 37 + place * 11) % 64; }

static void mix(void* context, const struct longshore_combine_batch* batch) {
  (void)context;
  for (int64_t i = 0; i < batch->count; ++i) {
    void* const to = element_of(batch, i);
    const void* const from = ghost_of(batch, i);
    if (batch->field == 1)
      *(int32_t*)to = (int32_t)mixed(1, *(int32_t*)to, *(const int32_t*)from);
    else
      *(double*)to = mixed(batch->field, *(double*)to, *(const double*)from);
  }
}

/* The values that owners have after copies were mixed in, in the order of their boxes. */
static void mix_all(const struct blocks* b, int field, double* results, int* owners) {
  for (int place = 0; place < most_places; ++place) owners[place] = -1;
  for (int of_copies = 0; of_copies < 2; ++of_copies)
    for (int box = 0; box < b->all->count; ++box) {
      int64_t cell[3];
      first_cell(b, cell);
      do {
        const int place = place_of(b, box, cell);
        if (place < 0 || !is_taken(b, box, cell)) continue;
        const int is_inner = is_inside(b, box, cell);
        if (!of_copies && is_inner && owners[place] < 0)
          owners[place] = box, results[place] = value_at(box, place);
        if (of_copies && owners[place] >= 0 && !(is_inner && owners[place] == box))
          results[place] = mixed(field, results[place], value_at(box, place));
      } while (next_cell(b, box, cell));
    }
}

/* Fills a field, or checks it after an accumulate or assemble by mix(). */
static int fill_or_check(const struct blocks* b, int field, int fills, int is_assembled) {
  double results[most_places];
  int owners[most_places];
  if (!fills) mix_all(b, field, results, owners);
  for (int box = b->first; box < b->first + b->count; ++box) {
    int64_t cell[3];
    first_cell(b, cell);
    do {
      const int place = place_of(b, box, cell);
      const double value = place < 0 ? -1 : value_at(box, place);
      if (fills)
        set(b, box, cell, value);
      else if (place >= 0 && is_taken(b, box, cell) &&
               (is_assembled || (owners[place] == box && is_inside(b, box, cell))))
        CHECK(get(b, box, cell) == results[place]);
      else
        CHECK(get(b, box, cell) == value);
    } while (next_cell(b, box, cell));
  }
  return LONGSHORE_OK;
}

static int make_layout(longshore_team* team, const struct decomposition* all,
                       longshore_boxes** boxes) {
  const int rank = longshore_team_rank(team);
  const int first = first_of(all, rank), count = first_of(all, rank + 1) - first;
  struct longshore_boxes_options options = {.periodic = {1, 0, 0}};
  for (int d = 0; d < 3; ++d)
    options.domain_first[d] = origin[d], options.domain_cells[d] = size[d];
  CHECK_OK(
      longshore_boxes_create(team, count > 0 ? &all->boxes[first] : NULL, count, &options, boxes));
  CHECK(longshore_boxes_count(*boxes) == count && longshore_boxes_total(*boxes) == all->count);
  CHECK(longshore_boxes_first(*boxes, rank) == first && longshore_boxes_first(*boxes, -1) == -1);
  CHECK(longshore_boxes_owner(*boxes, all->count) == -1);
  for (int box = 0; box < all->count; ++box) {
    struct longshore_box found;
    CHECK(longshore_boxes_owner(*boxes, box) == all->owners[box]);
    CHECK_OK(longshore_boxes_get(*boxes, box, &found));
    CHECK(memcmp(&found, &all->boxes[box], sizeof found) == 0);
  }
  struct longshore_box found;
  CHECK_REFUSED(longshore_boxes_get(*boxes, all->count, &found), LONGSHORE_ERROR_USAGE,
                "numbers begin at 0");
  return LONGSHORE_OK;
}

static const int none[3] = {0, 0, 0}, one[3] = {1, 1, 1}, low[3] = {2, 1, 1}, high[3] = {1, 2, 0};

/* Exchanges cells with uneven halos, integers, and vertices by one plan. */
static int exchanges(longshore_team* team, const char* mode) {
  const struct decomposition all = slabs(longshore_team_size(team));
  struct blocks b[fields];
  struct longshore_box_field given[fields];
  longshore_boxes* boxes = NULL;
  longshore_box_exchange* plan = NULL;
  PASS(make_layout(team, &all, &boxes));
  PASS(make_blocks(team, &b[0], &all, LONGSHORE_FLOAT64, 0, low, high, 1));
  PASS(make_blocks(team, &b[1], &all, LONGSHORE_INT32, 0, one, one, 0));
  PASS(make_blocks(team, &b[2], &all, LONGSHORE_FLOAT64, 1, none, none, 0));
  for (int f = 0; f < fields; ++f) given[f] = b[f].field;
  const struct longshore_box_exchange_options options = {.mode = mode};
  CHECK_OK(longshore_box_exchange_create(boxes, &options, given, fields, &plan));
  CHECK_OK(longshore_boxes_free(boxes)); /* the plan keeps the layout */
  if (b[0].count > 0) CHECK(longshore_memory_free(b[0].memory) == LONGSHORE_ERROR_USAGE);
  struct longshore_traffic moved, assembled;
  CHECK_OK(longshore_box_exchange_moved(plan, "accumulate", &moved));
  CHECK(moved.payload_bytes == 0);

  /* First the whole plan, then two of its fields with a smaller halo. */
  static const int last_and_first[2] = {2, 0}, few_low[3] = {1, 1, 0}, few_high[3] = {0, 1, 1};
  static const struct longshore_part some = {
      .fields = last_and_first, .count = 2, .low = few_low, .high = few_high};
  for (int is_part = 0; is_part < 2; ++is_part) {
    const struct longshore_part* const part = is_part ? &some : NULL;
    for (int f = 0; is_part && f < fields; ++f)
      take(&b[f], f == 1 ? NULL : few_low, f == 1 ? NULL : few_high);
    for (int turn = 0; turn < (is_part ? 2 : 4); ++turn) {
      for (int f = 0; f < fields; ++f) fill_places(&b[f], 1000 * turn + f);
      CHECK_OK(longshore_barrier(team));
      if (turn == 0) CHECK_OK(longshore_box_exchange_update_part(plan, part));
      if (turn == 1) CHECK_OK(longshore_box_exchange_start_update_part(plan, part));
      if (turn == 2) CHECK_OK(longshore_box_exchange_update(plan));
      if (turn == 3) CHECK_OK(longshore_box_exchange_start_update(plan));
      for (int complete = turn % 2 == 0; !complete;)
        CHECK_OK(longshore_box_exchange_test(plan, &complete));
      for (int f = 0; f < fields; ++f) PASS(check_places(&b[f], 1000 * turn + f, 1));
    }
    for (int turn = 0; turn < 8; ++turn) {
      const int reduction = turn < 4 ? LONGSHORE_SUM : LONGSHORE_MAX, is_assembled = turn % 2;
      for (int f = 0; f < fields; ++f) fill_values(&b[f]);
      CHECK_OK(longshore_barrier(team));
      if (turn % 4 < 2) {
        CHECK_OK(is_assembled ? longshore_box_exchange_assemble(plan, reduction, part)
                              : longshore_box_exchange_accumulate(plan, reduction, part));
      } else {
        CHECK_OK(is_assembled ? longshore_box_exchange_start_assemble(plan, reduction, part)
                              : longshore_box_exchange_start_accumulate(plan, reduction, part));
        CHECK_REFUSED(longshore_box_exchange_free(plan), LONGSHORE_ERROR_USAGE, "in flight");
        CHECK_REFUSED(longshore_box_exchange_update(plan), LONGSHORE_ERROR_USAGE, "in flight");
        CHECK_OK(longshore_box_exchange_wait(plan));
      }
      for (int f = 0; f < fields; ++f) PASS(check_combined(&b[f], reduction, is_assembled));
    }
    for (int turn = 0; turn < 4; ++turn) {
      for (int f = 0; f < fields; ++f) PASS(fill_or_check(&b[f], f, 1, 0));
      CHECK_OK(longshore_barrier(team));
      if (turn == 0) CHECK_OK(longshore_box_exchange_accumulate_by(plan, mix, NULL, part));
      if (turn == 1) CHECK_OK(longshore_box_exchange_assemble_by(plan, mix, NULL, part));
      if (turn == 2) CHECK_OK(longshore_box_exchange_start_accumulate_by(plan, mix, NULL, part));
      if (turn == 3) CHECK_OK(longshore_box_exchange_start_assemble_by(plan, mix, NULL, part));
      if (turn >= 2) CHECK_OK(longshore_box_exchange_wait(plan));
      for (int f = 0; f < fields; ++f) PASS(fill_or_check(&b[f], f, 0, turn % 2));
    }
  }
  CHECK_REFUSED(longshore_box_exchange_assemble_by(plan, NULL, NULL, NULL), LONGSHORE_ERROR_USAGE,
                "function of an accumulate or assemble is NULL");
  CHECK_OK(longshore_box_exchange_moved(plan, NULL, &moved));
  CHECK((moved.payload_bytes > 0) == (b[0].count > 0 || moved.messages > 0));
  CHECK_OK(longshore_box_exchange_moved(plan, "accumulate", &moved));
  CHECK_OK(longshore_box_exchange_moved(plan, "assemble", &assembled));
  CHECK(assembled.payload_bytes >= moved.payload_bytes);
  CHECK_REFUSED(longshore_box_exchange_moved(plan, "swap", &moved), LONGSHORE_ERROR_USAGE,
                "one of update, accumulate, assemble");
  const int neighbours = longshore_box_exchange_neighbours(plan);
  CHECK(neighbours <= longshore_team_size(team) && longshore_box_exchange_memory_bytes(plan) >= 0);
  CHECK_REFUSED(longshore_box_exchange_wait(plan), LONGSHORE_ERROR_USAGE, "not started");
  CHECK_REFUSED(longshore_box_exchange_assemble(plan, LONGSHORE_XOR, NULL), LONGSHORE_ERROR_USAGE,
                "operation 4 of an accumulate or assemble");
  CHECK_OK(longshore_box_exchange_free(plan));
  for (int f = 0; f < fields; ++f) PASS(free_blocks(&b[f]));
  return LONGSHORE_OK;
}

/* Copies from slabs to pencils, with and without halos. */
static int copies(longshore_team* team, const char* mode) {
  const struct decomposition from = slabs(longshore_team_size(team)),
                             to = pencils(longshore_team_size(team));
  longshore_boxes *from_boxes = NULL, *to_boxes = NULL;
  PASS(make_layout(team, &from, &from_boxes));
  PASS(make_layout(team, &to, &to_boxes));
  for (int fills_halos = 0; fills_halos < 2; ++fills_halos) {
    struct blocks a[2], b[2];
    PASS(make_blocks(team, &a[0], &from, LONGSHORE_FLOAT64, 0, one, one, 0));
    PASS(make_blocks(team, &b[0], &to, LONGSHORE_FLOAT64, 0, low, high, 1));
    PASS(make_blocks(team, &a[1], &from, LONGSHORE_INT32, 0, none, none, 1));
    PASS(make_blocks(team, &b[1], &to, LONGSHORE_INT32, 0, one, none, 0));
    const struct longshore_box_field sources[2] = {a[0].field, a[1].field},
                                     targets[2] = {b[0].field, b[1].field};
    const struct longshore_box_copy_options options = {.mode = mode, .fills_halos = fills_halos};
    longshore_box_copy* plan = NULL;
    CHECK_OK(longshore_box_copy_create(from_boxes, sources, to_boxes, targets, 2, &options, &plan));
    for (int turn = 0; turn < 3; ++turn) {
      for (int f = 0; f < 2; ++f) {
        fill_places(&a[f], 100 * turn + f);
        for (int box = b[f].first; box < b[f].first + b[f].count; ++box) {
          int64_t cell[3];
          first_cell(&b[f], cell);
          do set(&b[f], box, cell, -1);
          while (next_cell(&b[f], box, cell));
        }
      }
      CHECK_OK(longshore_barrier(team));
      if (turn == 0) {
        CHECK_OK(longshore_box_copy_run(plan));
      } else {
        CHECK_OK(longshore_box_copy_start(plan));
        CHECK_REFUSED(longshore_box_copy_free(plan), LONGSHORE_ERROR_USAGE, "in flight");
        if (turn == 1) CHECK_OK(longshore_box_copy_wait(plan));
        for (int complete = turn == 1; !complete;)
          CHECK_OK(longshore_box_copy_test(plan, &complete));
      }
      for (int f = 0; f < 2; ++f) PASS(check_places(&b[f], 100 * turn + f, fills_halos));
    }
    struct longshore_traffic moved;
    longshore_box_copy_moved(plan, &moved);
    CHECK(moved.payload_bytes > 0 || a[0].count == 0);
    CHECK_OK(longshore_box_copy_free(plan));
    for (int f = 0; f < 2; ++f) {
      PASS(free_blocks(&a[f]));
      PASS(free_blocks(&b[f]));
    }
  }
  CHECK_OK(longshore_boxes_free(from_boxes));
  CHECK_OK(longshore_boxes_free(to_boxes));
  return LONGSHORE_OK;
}

/* A fold: the cells beyond the row are glued to the cells of the row, with x and y turned. */
static int folds(longshore_team* team) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  const struct longshore_box mine = {{4 * rank, 0, 0}, {4, 1, 1}};
  const struct longshore_glued_cells fold = {.first = {0, 1, 0},
                                             .cells = {4 * ranks, 1, 1},
                                             .axis = {0, 1, 2},
                                             .sign = {-1, -1, 1},
                                             .offset = {4 * ranks - 1, 1, 0}};
  const struct longshore_boxes_options options = {.glued = &fold, .glued_count = 1};
  const int halo[3] = {0, 1, 0};
  const int64_t extents[3] = {4, 1, 1};
  longshore_boxes* boxes = NULL;
  longshore_box_exchange* plan = NULL;
  CHECK_OK(longshore_boxes_create(team, &mine, 1, &options, &boxes));
  int64_t cells[12];
  struct longshore_field view;
  longshore_field_dense(&view, cells, LONGSHORE_INT64, extents, halo, halo);
  for (int i = 0; i < 12; ++i) cells[i] = i >= 4 && i < 8 ? 4 * rank + i - 4 : -1;
  const struct longshore_box_field field = {
      .boxes = &view, .count = 1, .type = LONGSHORE_INT64, .low = {0, 1, 0}, .high = {0, 1, 0}};
  CHECK_OK(longshore_box_exchange_create(boxes, NULL, &field, 1, &plan));
  CHECK_OK(longshore_barrier(team));
  CHECK_OK(longshore_box_exchange_update(plan));
  for (int i = 0; i < 4; ++i)
    CHECK(cells[i] == -1 && cells[8 + i] == 4 * ranks - 1 - (4 * rank + i));
  CHECK_OK(longshore_box_exchange_free(plan));
  CHECK_OK(longshore_boxes_free(boxes));
  return LONGSHORE_OK;
}

/* One rank is wrong in each call. */
static int wrong_arguments_are_refused(longshore_team* team) {
  const int rank = longshore_team_rank(team), is_wrong = rank == longshore_team_size(team) - 1;
  const struct longshore_box mine[2] = {{{4 * rank, 0, 0}, {4, 4, 4}},
                                        {{4 * rank + 3, 0, 0}, {1, 1, 1}}};
  longshore_boxes* boxes = NULL;
  CHECK_REFUSED_BY_ALL(longshore_boxes_create(team, mine, is_wrong ? 2 : 1, NULL, &boxes),
                       "overlaps");
  CHECK_REFUSED_BY_ALL(longshore_boxes_create(team, mine, is_wrong ? -1 : 1, NULL, &boxes),
                       "number of boxes is -1");
  CHECK_REFUSED_BY_ALL(longshore_boxes_create(team, is_wrong ? NULL : mine, 1, NULL, &boxes),
                       "array of boxes is NULL");
  const struct longshore_boxes_options unset = {.reserved = {1}}, glued = {.glued_count = 1};
  CHECK_REFUSED_BY_ALL(longshore_boxes_create(team, mine, 1, is_wrong ? &unset : NULL, &boxes),
                       "longshore_boxes_options");
  CHECK_REFUSED_BY_ALL(longshore_boxes_create(team, mine, 1, is_wrong ? &glued : NULL, &boxes),
                       "array of glued cells is NULL");
  CHECK_REFUSED(longshore_boxes_create(NULL, mine, 1, NULL, &boxes), LONGSHORE_ERROR_USAGE,
                "team is NULL");
  CHECK_OK(longshore_boxes_create(team, mine, 1, NULL, &boxes));

  double* const memory = calloc(6 * 6 * 6, sizeof(double));
  struct longshore_field view;
  longshore_field_dense(&view, memory, LONGSHORE_FLOAT64, mine[0].cells, one, one);
  const struct longshore_box_field right = {
      .boxes = &view, .count = 1, .type = LONGSHORE_FLOAT64, .low = {1, 1, 1}, .high = {1, 1, 1}};
  longshore_box_exchange* plan = NULL;
  longshore_box_copy* turn = NULL;
  struct longshore_field other = view;
  other.type = LONGSHORE_INT64;
  struct longshore_box_field few = right, wide = right, another = right, absent = right;
  few.count = 0, wide.low[1] = 2, another.boxes = &other, absent.boxes = NULL;
  const struct {
    const struct longshore_box_field* field;
    const char* words;
  } wrong[] = {{&few, "has 0 views"},
               {&another, "has other elements than the field"},
               {&absent, "array of a field's boxes is NULL"},
               {NULL, "array of fields is NULL"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
    const struct longshore_box_field* const given = is_wrong ? wrong[i].field : &right;
    CHECK_REFUSED_BY_ALL(longshore_box_exchange_create(boxes, NULL, given, 1, &plan),
                         wrong[i].words);
    CHECK_REFUSED_BY_ALL(longshore_box_copy_create(boxes, given, boxes, &right, 1, NULL, &turn),
                         wrong[i].words);
  }
  CHECK_REFUSED_BY_ALL(longshore_box_exchange_create(boxes, NULL, &wide, 1, &plan),
                       "the field needs 2 and 1");
  CHECK_REFUSED_BY_ALL(longshore_box_exchange_create(boxes, NULL, &right, is_wrong ? 0 : 1, &plan),
                       "0 fields");
  const struct longshore_box_exchange_options fast = {.mode = "fast"};
  CHECK_REFUSED_BY_ALL(
      longshore_box_exchange_create(boxes, is_wrong ? &fast : NULL, &right, 1, &plan),
      "no box mode is named 'fast'");
  CHECK_REFUSED_BY_ALL(
      longshore_box_copy_create(boxes, &right, is_wrong ? NULL : boxes, &right, 1, NULL, &turn),
      "layout of the target is NULL");
  CHECK_REFUSED(longshore_box_exchange_update(NULL), LONGSHORE_ERROR_USAGE, "the plan is NULL");
  CHECK_OK(longshore_box_exchange_create(boxes, NULL, &right, 1, &plan));
  CHECK_REFUSED(longshore_box_exchange_accumulate(plan, LONGSHORE_OR, NULL), LONGSHORE_ERROR_USAGE,
                "does not have the operation");
  const struct longshore_part first = {.fields = none, .count = 1},
                              beyond = {.fields = one, .count = 1},
                              twice = {.fields = none, .count = 2}, half = {.low = one};
  CHECK_REFUSED_BY_ALL(longshore_box_exchange_update_part(plan, is_wrong ? &beyond : &first),
                       "field 1 of a part of a plan of boxes: use numbers from 0 to 0");
  CHECK_REFUSED_BY_ALL(
      longshore_box_exchange_accumulate(plan, LONGSHORE_SUM, is_wrong ? &twice : &first),
      "the 1st field is twice");
  CHECK_REFUSED(longshore_box_exchange_start_assemble(plan, LONGSHORE_SUM, &half),
                LONGSHORE_ERROR_USAGE, "one of low and high of a part");
  CHECK_OK(longshore_box_exchange_update(plan)); /* the plan can go on */
  CHECK_OK(longshore_box_exchange_free(plan));
  CHECK_OK(longshore_boxes_free(boxes));
  free(memory);
  return LONGSHORE_OK;
}

static int run_all(longshore_team* team, void* context) {
  (void)context;
  static const char* const modes[2] = {"direct", "channel"};
  for (int m = 0; m < 2; ++m) {
    PASS(exchanges(team, modes[m]));
    PASS(copies(team, modes[m]));
  }
  PASS(folds(team));
  return wrong_arguments_are_refused(team);
}

int main(int argc, char** argv) {
  const int code = longshore_run(argc, argv, run_all, NULL);
  if (code == LONGSHORE_OK) return 0;
  fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return 1;
}
