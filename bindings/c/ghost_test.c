/* Tests ghost exchanges of the C interface on any transport: all ways to give a graph, fields of
 * several types, all operations, and wrong arguments. Every rank knows the ghosts of all ranks, and
 * computes the expected values itself. */
#include "checked.h"

#include <stdlib.h>

enum { ghosts_per_rank = 9 };

/* Rank r owns 3 + r % 3 elements; rank 2 owns none. */
static int64_t owned_by(int rank) { return rank == 2 ? 0 : 3 + rank % 3; }

static int64_t first_of(int rank) {
  int64_t first = 0;
  for (int r = 0; r < rank; ++r) first += owned_by(r);
  return first;
}

/* The ghosts of a rank: other elements and its own, some of them twice. Rank 1 has none. */
static int64_t ghosts_of(int rank, int ranks, int turn, int64_t* ghosts) {
  if (rank == 1) return 0;
  for (int i = 0; i < ghosts_per_rank; ++i)
    ghosts[i] = (7 * rank + 5 * (i % 6) + turn * (i == 0)) % first_of(ranks);
  return ghosts_per_rank;
}

static int owner_of(int64_t index, int64_t* element) {
  int rank = 0;
  while (index >= first_of(rank + 1)) ++rank;
  *element = index - first_of(rank);
  return rank;
}

/* The identifier of an element in a numbering of the program. */
static int64_t id_of(int64_t index) { return 1000 + 13 * index; }

struct particle {
  double mass;
  int32_t flags;
};
struct state {
  double x[20];
  struct particle particles[20];
  float vectors[20][3];
  char names[20][5];
};

static struct longshore_ghost_field field_of(void* first, int64_t owned, int type, int items,
                                             size_t element_bytes, int64_t stride) {
  struct longshore_ghost_field field = {.owned = first,
                                        .ghosts = (char*)first + owned * stride,
                                        .type = type,
                                        .items = items,
                                        .element_bytes = element_bytes};
  field.owned_stride_bytes = field.ghost_stride_bytes = stride;
  return field;
}

/* Three fields of numbers and one of bytes. */
static void fields_of(struct state* s, int64_t owned, struct longshore_ghost_field fields[4]) {
  fields[0] = field_of(s->x, owned, LONGSHORE_FLOAT64, 0, 0, sizeof(double));
  fields[0].owned_stride_bytes = fields[0].ghost_stride_bytes = 0; /* contiguous */
  fields[1] =
      field_of(&s->particles[0].flags, owned, LONGSHORE_INT32, 1, 0, sizeof(struct particle));
  fields[2] = field_of(s->vectors, owned, LONGSHORE_FLOAT32, 3, 0, sizeof s->vectors[0]);
  fields[3] = field_of(s->names, owned, LONGSHORE_BYTES, 0, 5, 5);
}

static double value_of(int64_t index) { return 100 + 3 * (double)index; }

static void fill(struct state* s, int64_t first, int64_t owned) {
  memset(s, 0, sizeof *s);
  for (int64_t i = 0; i < owned; ++i) {
    s->x[i] = value_of(first + i);
    s->particles[i].mass = -1;
    s->particles[i].flags = 1 << ((first + i) % 8);
    for (int c = 0; c < 3; ++c) s->vectors[i][c] = (float)(value_of(first + i) + c);
    snprintf(s->names[i], 5, "n%d", (int)((first + i) % 100));
  }
}

static int check_update(const struct state* s, int64_t owned, const int64_t* ghosts,
                        int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = owned + i;
    char name[5];
    snprintf(name, sizeof name, "n%d", (int)(ghosts[i] % 100));
    CHECK(s->x[at] == value_of(ghosts[i]));
    CHECK(s->particles[at].flags == 1 << (ghosts[i] % 8));
    CHECK(s->particles[at].mass == 0);
    for (int c = 0; c < 3; ++c) CHECK(s->vectors[at][c] == (float)(value_of(ghosts[i]) + c));
    CHECK(strcmp(s->names[at], name) == 0);
  }
  return LONGSHORE_OK;
}

/* The value of ghost i of a rank before an accumulate. */
static double ghost_value(int rank, int64_t i) { return 10 * rank + (double)i + 1; }

static double combined(int reduction, double a, double b) {
  if (reduction == LONGSHORE_SUM) return a + b;
  if (reduction == LONGSHORE_OR) return (double)((int64_t)a | (int64_t)b);
  return (reduction == LONGSHORE_MIN) == (a < b) ? a : b;
}

/* The result of an accumulate for the element `index`, whose value before is `value`. */
static double accumulated(int ranks, int reduction, int64_t index, double value) {
  int64_t ghosts[ghosts_per_rank];
  for (int r = 0; r < ranks; ++r) {
    const int64_t count = ghosts_of(r, ranks, 0, ghosts);
    for (int64_t i = 0; i < count; ++i)
      if (ghosts[i] == index) value = combined(reduction, value, ghost_value(r, i));
  }
  return value;
}

static int check_accumulate(const struct state* s, int ranks, int64_t first, int64_t owned,
                            int reduction) {
  for (int64_t i = 0; i < owned; ++i) {
    CHECK(s->x[i] == accumulated(ranks, reduction, first + i, value_of(first + i)));
    CHECK(s->particles[i].flags ==
          (int32_t)accumulated(ranks, reduction, first + i, 1 << ((first + i) % 8)));
    for (int c = 0; c < 3; ++c)
      CHECK(s->vectors[i][c] ==
            (float)accumulated(ranks, reduction, first + i, value_of(first + i) + c));
  }
  return LONGSHORE_OK;
}

static void fill_ghosts(struct state* s, int rank, int64_t owned, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    s->x[owned + i] = ghost_value(rank, i);
    s->particles[owned + i].flags = (int32_t)ghost_value(rank, i);
    for (int c = 0; c < 3; ++c) s->vectors[owned + i][c] = (float)ghost_value(rank, i);
  }
}

/* Adds like LONGSHORE_SUM, and counts the pairs. */
struct adder {
  int64_t pairs;
};
static void add(void* context, const struct longshore_combine_batch* batch) {
  struct adder* const adder = context;
  adder->pairs += batch->count;
  for (int64_t i = 0; i < batch->count; ++i) {
    void* const to = element_of(batch, i);
    const void* const from = ghost_of(batch, i);
    if (batch->field == 0) *(double*)to += *(const double*)from;
    if (batch->field == 1) *(int32_t*)to += *(const int32_t*)from;
    for (int c = 0; batch->field == 2 && c < 3; ++c) ((float*)to)[c] += ((const float*)from)[c];
  }
}

static void mix(void* context, const struct longshore_combine_batch* batch) {
  (void)context;
  for (int64_t i = 0; i < batch->count; ++i) {
    void* const to = element_of(batch, i);
    const void* const from = ghost_of(batch, i);
    if (batch->field == 0) *(double*)to = mixed(0, *(double*)to, *(const double*)from);
    if (batch->field == 1) *(int32_t*)to = (int32_t)mixed(1, *(int32_t*)to, *(const int32_t*)from);
    for (int c = 0; batch->field == 2 && c < 3; ++c)
      ((float*)to)[c] = (float)mixed(2, ((float*)to)[c], ((const float*)from)[c]);
  }
}

/* The value of an element after its ghosts were mixed in, in the order of ranks. The ghosts of a
 * rank have one value. */
static double mixed_over_ranks(int ranks, int field, int64_t element) {
  double value = (double)(element % 100);
  for (int rank = 0; rank < ranks; ++rank) {
    int64_t ghosts[ghosts_per_rank];
    const int64_t count = ghosts_of(rank, ranks, 0, ghosts);
    for (int64_t i = 0; i < count; ++i)
      if (ghosts[i] == element) value = mixed(field, value, rank + 1);
  }
  return value;
}

static int assembles_in_order(longshore_team* team, longshore_ghost* plan, struct state* s,
                              int64_t first, int64_t owned, const int64_t* ghosts, int64_t count) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  for (int starts = 0; starts < 2; ++starts) {
    for (int64_t i = 0; i < owned + count; ++i) {
      const double value = i < owned ? (double)((first + i) % 100) : rank + 1;
      s->x[i] = value, s->particles[i].flags = (int32_t)value;
      for (int c = 0; c < 3; ++c) s->vectors[i][c] = (float)value;
    }
    if (starts) {
      CHECK_OK(longshore_ghost_start_assemble_by(plan, mix, NULL));
      CHECK_OK(longshore_ghost_wait(plan));
    } else {
      CHECK_OK(longshore_ghost_assemble_by(plan, mix, NULL));
    }
    for (int64_t i = 0; i < owned + count; ++i) {
      const int64_t element = i < owned ? first + i : ghosts[i - owned];
      CHECK(s->x[i] == mixed_over_ranks(ranks, 0, element));
      CHECK(s->particles[i].flags == (int32_t)mixed_over_ranks(ranks, 1, element));
      for (int c = 0; c < 3; ++c)
        CHECK(s->vectors[i][c] == (float)mixed_over_ranks(ranks, 2, element));
    }
  }
  return LONGSHORE_OK;
}

static int exchange_by(longshore_team* team, const longshore_ghost_graph* graph,
                       const char* strategy, int in_shared_memory) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  const int64_t first = first_of(rank), owned = owned_by(rank);
  int64_t ghosts[ghosts_per_rank];
  const int64_t count = ghosts_of(rank, ranks, 0, ghosts);
  struct state own, *s = &own;
  longshore_memory* memory = NULL;
  void* data = NULL;
  if (in_shared_memory) {
    CHECK_OK(longshore_memory_create(team, sizeof own, &memory, &data));
    s = data;
  }
  struct longshore_ghost_field fields[4];
  fields_of(s, owned, fields);
  const struct longshore_ghost_options options = {.strategy = strategy},
                                       update_only = {.strategy = strategy, .accumulates = -1};
  longshore_ghost *all = NULL, *numbers = NULL;
  CHECK_OK(longshore_ghost_create(graph, &update_only, fields, 4, &all));
  CHECK_OK(longshore_ghost_create(graph, &options, fields, 3, &numbers));
  CHECK(strategy == NULL || strcmp(strategy, "auto") == 0 ||
        strcmp(longshore_ghost_strategy(all), strategy) == 0);
  CHECK(longshore_ghost_neighbours(all) >= 0 && longshore_ghost_memory_bytes(all) >= 0);
  struct longshore_traffic moved = {0};
  CHECK_OK(longshore_ghost_moved(all, NULL, &moved));
  int64_t payload = moved.payload_bytes;
  CHECK_OK(longshore_allreduce(team, &payload, 1, LONGSHORE_INT64, LONGSHORE_SUM));
  CHECK(payload == (ranks > 1 ? ranks - 1 : 1) * ghosts_per_rank * (8 + 4 + 12 + 5));
  if (in_shared_memory)
    CHECK_REFUSED(longshore_memory_free(memory), LONGSHORE_ERROR_USAGE, "still used by");

  for (int use = 0; use < 3; ++use) {
    fill(s, first, owned);
    if (use == 0) CHECK_OK(longshore_ghost_update(all));
    if (use > 0) CHECK_OK(longshore_ghost_start_update(all));
    if (use == 1) {
      CHECK_REFUSED(longshore_ghost_free(all), LONGSHORE_ERROR_USAGE, "in flight");
      CHECK_REFUSED(longshore_ghost_start_update(all), LONGSHORE_ERROR_USAGE, "");
      CHECK_OK(longshore_ghost_wait(all));
    }
    for (int complete = use < 2; !complete;) CHECK_OK(longshore_ghost_test(all, &complete));
    PASS(check_update(s, owned, ghosts, count));
  }
  CHECK_REFUSED(longshore_ghost_accumulate(all, LONGSHORE_SUM), LONGSHORE_ERROR_USAGE, "");

  static const int reductions[] = {LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX};
  for (int k = 0; k < 5; ++k) {
    struct adder adder = {0};
    fill(s, first, owned);
    fill_ghosts(s, rank, owned, count);
    if (k < 2) CHECK_OK(longshore_ghost_accumulate(numbers, reductions[k]));
    if (k == 2) {
      CHECK_OK(longshore_ghost_start_accumulate(numbers, reductions[k]));
      CHECK_OK(longshore_ghost_wait(numbers));
    }
    if (k == 3) CHECK_OK(longshore_ghost_accumulate_by(numbers, add, &adder));
    if (k == 4) {
      CHECK_OK(longshore_ghost_start_accumulate_by(numbers, add, &adder));
      for (int complete = 0; !complete;) CHECK_OK(longshore_ghost_test(numbers, &complete));
    }
    PASS(check_accumulate(s, ranks, first, owned, k < 3 ? reductions[k] : LONGSHORE_SUM));
    CHECK_OK(longshore_allreduce(team, &adder.pairs, 1, LONGSHORE_INT64, LONGSHORE_SUM));
    CHECK(adder.pairs == (k < 3 ? 0 : 3 * (ranks > 1 ? ranks - 1 : 1) * ghosts_per_rank));
    for (int64_t i = 0; i < count; ++i) CHECK(s->x[owned + i] == ghost_value(rank, i));
  }
  for (int k = 0; k < 3; ++k) {
    fill(s, first, owned);
    fill_ghosts(s, rank, owned, count);
    CHECK_OK(k < 2 ? longshore_ghost_assemble(numbers, reductions[k])
                   : longshore_ghost_start_assemble(numbers, reductions[k]));
    if (k == 2) CHECK_OK(longshore_ghost_wait(numbers));
    PASS(check_accumulate(s, ranks, first, owned, reductions[k]));
    for (int64_t i = 0; i < count; ++i)
      CHECK(s->x[owned + i] == accumulated(ranks, reductions[k], ghosts[i], value_of(ghosts[i])));
  }
  PASS(assembles_in_order(team, numbers, s, first, owned, ghosts, count));
  CHECK_REFUSED(longshore_ghost_assemble(all, LONGSHORE_SUM), LONGSHORE_ERROR_USAGE, "");
  CHECK_REFUSED(longshore_ghost_assemble(numbers, LONGSHORE_AND), LONGSHORE_ERROR_USAGE,
                "LONGSHORE_MAX, LONGSHORE_OR");
  CHECK_REFUSED(longshore_ghost_accumulate(numbers, LONGSHORE_OR), LONGSHORE_ERROR_USAGE, "");
  CHECK_REFUSED(longshore_ghost_accumulate(numbers, LONGSHORE_XOR), LONGSHORE_ERROR_USAGE,
                "LONGSHORE_MAX, LONGSHORE_OR");
  CHECK_OK(longshore_ghost_free(numbers));
  CHECK_OK(longshore_ghost_free(all));
  CHECK_OK(longshore_memory_free(memory));
  return LONGSHORE_OK;
}

/* Combines bits of integers by a plan without updates. */
static int accumulate_bits(longshore_team* team, const longshore_ghost_graph* graph) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  const int64_t first = first_of(rank), owned = owned_by(rank);
  int64_t ghosts[ghosts_per_rank], bits[20];
  const int64_t count = ghosts_of(rank, ranks, 0, ghosts);
  for (int64_t i = 0; i < owned; ++i) bits[i] = first + i;
  for (int64_t i = 0; i < count; ++i) bits[owned + i] = (int64_t)ghost_value(rank, i);
  const struct longshore_ghost_field field =
      field_of(bits, owned, LONGSHORE_INT64, 0, 0, sizeof bits[0]);
  const struct longshore_ghost_options options = {.updates = -1};
  longshore_ghost* plan = NULL;
  CHECK_OK(longshore_ghost_create(graph, &options, &field, 1, &plan));
  CHECK_OK(longshore_ghost_accumulate(plan, LONGSHORE_OR));
  for (int64_t i = 0; i < owned; ++i)
    CHECK(bits[i] == (int64_t)accumulated(ranks, LONGSHORE_OR, first + i, (double)(first + i)));
  CHECK_REFUSED(longshore_ghost_update(plan), LONGSHORE_ERROR_USAGE, "");
  return longshore_ghost_free(plan);
}

/* Changes the ghosts of a graph and of a plan, first at the same addresses and then at others. */
static int remake(longshore_team* team, const longshore_ghost_graph* graph, char form) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  const int64_t first = first_of(rank), owned = owned_by(rank);
  struct state one, other;
  struct longshore_ghost_field fields[4];
  fields_of(&one, owned, fields);
  longshore_ghost* plan = NULL;
  CHECK_OK(longshore_ghost_create(graph, NULL, fields, 4, &plan));
  for (int turn = 1; turn < 4; ++turn) {
    int64_t ghosts[ghosts_per_rank], elements[ghosts_per_rank];
    int owners[ghosts_per_rank];
    const int64_t count = ghosts_of(rank, ranks, turn, ghosts);
    for (int64_t i = 0; i < count; ++i) owners[i] = owner_of(ghosts[i], &elements[i]);
    longshore_ghost_graph* next = NULL;
    if (form == 'o') {
      for (int64_t i = 0; i < count; ++i) elements[i] = id_of(ghosts[i]);
      CHECK_OK(longshore_ghost_graph_remake_owners(graph, owners, elements, count, &next));
    } else if (form == 'p')
      CHECK_OK(longshore_ghost_graph_remake_pairs(graph, owners, elements, count, &next));
    else
      CHECK_OK(longshore_ghost_graph_remake(graph, ghosts, count, &next));
    struct state* const s = turn == 3 ? &other : &one;
    fields_of(s, owned, fields);
    CHECK_REFUSED(longshore_ghost_remake(plan, next, fields, 3), LONGSHORE_ERROR_USAGE,
                  "4 fields is remade with 3 fields");
    CHECK_OK(longshore_ghost_remake(plan, next, turn == 3 ? fields : NULL, 4));
    CHECK_OK(longshore_ghost_graph_free(next));
    fill(s, first, owned);
    CHECK_OK(longshore_ghost_update(plan));
    PASS(check_update(s, owned, ghosts, count));
  }
  return longshore_ghost_free(plan);
}

static void move_element(struct state* to, int64_t at, const struct state* from, int64_t place) {
  to->x[at] = from->x[place];
  to->particles[at] = from->particles[place];
  memcpy(to->vectors[at], from->vectors[place], sizeof to->vectors[at]);
  memcpy(to->names[at], from->names[place], sizeof to->names[at]);
}

/* Makes a plan without memory, and then binds the plan to two states. Elements are contiguous, or
 * lie anywhere in one array. */
static int bind_to_each(longshore_team* team, const longshore_ghost_graph* graph,
                        const char* strategy, int has_places) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  const int64_t first = first_of(rank), owned = owned_by(rank);
  int64_t ghosts[ghosts_per_rank], places[20], other_places[20];
  const int64_t count = ghosts_of(rank, ranks, 0, ghosts);
  for (int i = 0; i < 20; ++i) {
    places[i] = has_places ? 7 * i % 20 : i;
    other_places[i] = (places[i] + 1) % 20;
  }
  const struct longshore_ghost_options options = {.strategy = strategy};
  longshore_ghost* plan = NULL;
  struct longshore_traffic moved = {.payload_bytes = 1};
  CHECK_OK(longshore_ghost_create(graph, &options, NULL, 0, &plan));
  CHECK_REFUSED(longshore_ghost_update(plan), LONGSHORE_ERROR_USAGE, "no memory yet");
  CHECK_REFUSED(longshore_ghost_wait(plan), LONGSHORE_ERROR_USAGE, "no memory yet");
  CHECK(longshore_ghost_neighbours(plan) == 0 && longshore_ghost_memory_bytes(plan) == 0);
  CHECK_OK(longshore_ghost_moved(plan, NULL, &moved));
  CHECK(moved.payload_bytes == 0);
  CHECK_OK(longshore_ghost_remake(plan, graph, NULL, 0));

  struct longshore_ghost_field fields[4];
  longshore_memory* memory[2];
  for (int turn = 0; turn < 3; ++turn) {
    void* data;
    CHECK_OK(longshore_memory_create(team, sizeof(struct state), &memory[turn % 2], &data));
    struct state ordered, *const s = data;
    fill(&ordered, first, owned);
    memset(s, 0, sizeof *s);
    for (int i = 0; i < 20; ++i) move_element(s, places[i], &ordered, i);
    fields_of(s, has_places ? 0 : owned, fields);
    for (int f = 0; has_places && f < 4; ++f)
      fields[f].owned_places = places, fields[f].ghost_places = places + owned;
    if (turn == 0) { /* wrong calls of one rank fail on all, because the call makes the plan */
      const struct longshore_ghost_field right = fields[3];
      if (rank == ranks - 1) fields[3].type = LONGSHORE_BYTES, fields[3].element_bytes = 4;
      if (ranks > 1) CHECK_REFUSED_BY_ALL(longshore_ghost_rebind(plan, fields, 4), "4 bytes");
      if (rank == ranks - 1) fields[3].type = 77;
      CHECK_REFUSED_BY_ALL(longshore_ghost_rebind(plan, fields, 4), "77");
      fields[3] = right;
    }
    CHECK_OK(longshore_ghost_rebind(plan, fields, 4));
    if (turn > 0) CHECK_OK(longshore_memory_free(memory[1 - turn % 2])); /* no longer used */
    CHECK_REFUSED(longshore_memory_free(memory[turn % 2]), LONGSHORE_ERROR_USAGE, "still used by");
    CHECK_OK(longshore_ghost_start_update(plan));
    CHECK_REFUSED(longshore_ghost_rebind(plan, fields, 4), LONGSHORE_ERROR_USAGE, "in flight");
    CHECK_OK(longshore_ghost_wait(plan));
    for (int i = 0; i < 20; ++i) move_element(&ordered, i, s, places[i]);
    PASS(check_update(&ordered, owned, ghosts, count));
  }

  /* Wrong calls of each rank, which leave the plan as it was. */
  CHECK_REFUSED(longshore_ghost_rebind(plan, fields, 3), LONGSHORE_ERROR_USAGE,
                "bound to 3 fields");
  CHECK_REFUSED(longshore_ghost_rebind(plan, fields, -1), LONGSHORE_ERROR_USAGE, "use 0 or more");
  CHECK_REFUSED(longshore_ghost_rebind(plan, NULL, 4), LONGSHORE_ERROR_USAGE,
                "the array of fields is NULL");
  struct longshore_ghost_field wrong[4];
  memcpy(wrong, fields, sizeof wrong);
  wrong[1].type = LONGSHORE_FLOAT32;
  CHECK_REFUSED(longshore_ghost_rebind(plan, wrong, 4), LONGSHORE_ERROR_USAGE,
                "the 2nd field of a ghost plan is bound to memory of another type");
  memcpy(wrong, fields, sizeof wrong);
  wrong[2].owned_places = other_places, wrong[2].ghost_places = other_places + owned;
  CHECK_REFUSED(longshore_ghost_rebind(plan, wrong, 4), LONGSHORE_ERROR_USAGE,
                "the 3rd field of a ghost plan is bound to memory with other places");
  memcpy(wrong, fields, sizeof wrong);
  other_places[0] = -1;
  wrong[0].owned_places = wrong[0].ghost_places = other_places;
  CHECK_REFUSED(longshore_ghost_rebind(plan, wrong, 4), LONGSHORE_ERROR_USAGE,
                "place -1 of a ghost field");
  wrong[0].owned = wrong[0].ghosts = NULL;
  CHECK_REFUSED(longshore_ghost_rebind(plan, wrong, 4), LONGSHORE_ERROR_USAGE, "is NULL");
  CHECK_OK(longshore_ghost_update(plan));
  return longshore_ghost_free(plan); /* the end of the run frees the memory */
}

static int queries(longshore_team* team, const longshore_ghost_graph* graph) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  int64_t ghosts[ghosts_per_rank], found[ghosts_per_rank], element, count;
  CHECK(longshore_ghost_graph_owned(graph) == owned_by(rank));
  CHECK(longshore_ghost_graph_ghosts(graph) == (rank == 1 ? 0 : ghosts_per_rank));
  CHECK(longshore_ghost_graph_memory_bytes(graph) > 0);
  int owner_count = -1, reader_count = -1, readers_seen = 0;
  const int* const owners = longshore_ghost_graph_owners(graph, &owner_count);
  const int* const readers = longshore_ghost_graph_readers(graph, &reader_count);
  for (int k = 0; k < owner_count; ++k)
    CHECK(owners[k] != rank && (k == 0 || owners[k - 1] < owners[k]));
  for (int reader = 0; reader < ranks; ++reader) {
    const int64_t of_reader = ghosts_of(reader, ranks, 0, ghosts);
    int64_t expected = 0;
    CHECK_OK(longshore_ghost_graph_needed_by(graph, reader, NULL, &count));
    CHECK_OK(longshore_ghost_graph_needed_by(graph, reader, found, &count));
    for (int64_t i = 0; i < of_reader; ++i)
      if (owner_of(ghosts[i], &element) == rank) CHECK(found[expected++] == element);
    CHECK(count == expected);
    if (count > 0 && reader != rank) CHECK(readers[readers_seen++] == reader);
  }
  CHECK(readers_seen == reader_count);
  int owner_of_ghost[ghosts_per_rank];
  count = ghosts_of(rank, ranks, 0, ghosts);
  CHECK_OK(longshore_ghost_graph_locations(graph, owner_of_ghost, found));
  for (int64_t i = 0; i < count; ++i)
    CHECK(owner_of_ghost[i] == owner_of(ghosts[i], &element) && found[i] == element);
  CHECK_OK(longshore_ghost_graph_locations(graph, NULL, NULL));
  CHECK_REFUSED(longshore_ghost_graph_needed_by(graph, ranks, NULL, &count), LONGSHORE_ERROR_USAGE,
                "the ranks are 0 to");
  return LONGSHORE_OK;
}

static int wrong_graphs_are_refused(longshore_team* team) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  longshore_ghost_graph* graph = NULL;
  const int64_t beyond = 2 * ranks, below = -1, zero = 0, same[2] = {7, 7}, absent = 999999;
  /* Only the last rank is wrong, and all ranks get its error. */
  const int is_last = rank == ranks - 1;
  CHECK_REFUSED(longshore_ghost_graph_create(team, 2, is_last ? &beyond : &zero, 1, &graph),
                LONGSHORE_ERROR_USAGE, "");
  CHECK(graph == NULL);
  CHECK_REFUSED(longshore_ghost_graph_create(team, 2, is_last ? &below : &zero, 1, &graph),
                LONGSHORE_ERROR_USAGE, "-1");
  CHECK_REFUSED(
      longshore_ghost_graph_create_pairs(team, 2, is_last ? &ranks : &rank, &zero, 1, &graph),
      LONGSHORE_ERROR_USAGE, "");
  CHECK_REFUSED(
      longshore_ghost_graph_create_pairs(team, 2, &rank, is_last ? &below : &zero, 1, &graph),
      LONGSHORE_ERROR_USAGE, "");
  CHECK_REFUSED(longshore_ghost_graph_create_ids(team, same, is_last ? 2 : 0, NULL, 0, &graph),
                LONGSHORE_ERROR_USAGE, "7");
  CHECK_REFUSED(
      longshore_ghost_graph_create_ids(team, NULL, 0, is_last ? &absent : NULL, is_last, &graph),
      LONGSHORE_ERROR_USAGE, "999999");
  const int nobody = ranks;
  CHECK_REFUSED(longshore_ghost_graph_create_owners(team, &zero, 1, &rank,
                                                    is_last ? &absent : &zero, 1, &graph),
                LONGSHORE_ERROR_USAGE, "index 999999");
  CHECK_REFUSED(longshore_ghost_graph_create_owners(team, &zero, 1, is_last ? &nobody : &rank,
                                                    &zero, 1, &graph),
                LONGSHORE_ERROR_USAGE, "there are ranks 0 to");
  /* These errors are found on each rank alone. */
  CHECK_REFUSED(longshore_ghost_graph_create_owners(team, &zero, 1, NULL, &zero, 1, &graph),
                LONGSHORE_ERROR_USAGE, "the array of ranks is NULL");
  CHECK_REFUSED(longshore_ghost_graph_locations(NULL, NULL, NULL), LONGSHORE_ERROR_USAGE,
                "the graph is NULL");
  CHECK_REFUSED(longshore_ghost_graph_create(team, -1, NULL, 0, &graph), LONGSHORE_ERROR_USAGE,
                "owned elements is -1");
  CHECK_REFUSED(longshore_ghost_graph_create(team, 0, NULL, 3, &graph), LONGSHORE_ERROR_USAGE,
                "the array of ghosts is NULL");
  CHECK_REFUSED(longshore_ghost_graph_create_pairs(team, 0, NULL, &zero, 1, &graph),
                LONGSHORE_ERROR_USAGE, "the array of ranks is NULL");
  CHECK_REFUSED(longshore_ghost_graph_create_ids(team, NULL, 1, NULL, 0, &graph),
                LONGSHORE_ERROR_USAGE, "the array of ids is NULL");
  CHECK_REFUSED(longshore_ghost_graph_create(NULL, 0, NULL, 0, &graph), LONGSHORE_ERROR_USAGE,
                "the team is NULL");
  CHECK_REFUSED(longshore_ghost_graph_remake(NULL, NULL, 0, &graph), LONGSHORE_ERROR_USAGE,
                "the graph is NULL");
  CHECK_OK(longshore_ghost_graph_free(NULL));
  return LONGSHORE_OK;
}

static int wrong_plans_are_refused(longshore_team* team) {
  const int64_t ghost = 0;
  double x[2] = {0};
  longshore_ghost_graph* graph = NULL;
  longshore_ghost* plan = NULL;
  CHECK_OK(longshore_ghost_graph_create(team, 1, &ghost, 1, &graph));
  const struct longshore_ghost_field right = field_of(x, 1, LONGSHORE_FLOAT64, 0, 0, 8),
                                     bytes = field_of(x, 1, LONGSHORE_BYTES, 2, 8, 8),
                                     type = field_of(x, 1, 77, 0, 0, 8),
                                     items = field_of(x, 1, LONGSHORE_FLOAT64, -2, 0, 8),
                                     nowhere = {.type = LONGSHORE_FLOAT64};
  const struct longshore_ghost_options strategy = {.strategy = "carrier-pigeon"},
                                       reserved = {.reserved = {1}}, updates = {.updates = 2};
  CHECK_REFUSED(longshore_ghost_create(graph, &strategy, &right, 1, &plan), LONGSHORE_ERROR_USAGE,
                "node-aware-2");
  CHECK_REFUSED(longshore_ghost_create(graph, &reserved, &right, 1, &plan), LONGSHORE_ERROR_USAGE,
                "initialise all options");
  CHECK_REFUSED(longshore_ghost_create(graph, &updates, &right, 1, &plan), LONGSHORE_ERROR_USAGE,
                "option updates of a ghost plan is 2");
  CHECK_REFUSED(longshore_ghost_create(graph, NULL, &bytes, 1, &plan), LONGSHORE_ERROR_USAGE,
                "the whole element");
  CHECK_REFUSED(longshore_ghost_create(graph, NULL, &type, 1, &plan), LONGSHORE_ERROR_USAGE,
                "LONGSHORE_INT8 (1) to");
  CHECK_REFUSED(longshore_ghost_create(graph, NULL, &items, 1, &plan), LONGSHORE_ERROR_USAGE,
                "-2 numbers");
  CHECK_REFUSED(longshore_ghost_create(graph, NULL, &nowhere, 1, &plan), LONGSHORE_ERROR_USAGE,
                "the memory of a field is NULL");
  CHECK_REFUSED(longshore_ghost_create(graph, NULL, &right, -1, &plan), LONGSHORE_ERROR_USAGE,
                "-1 fields: use 0 or more");
  const int is_last = longshore_team_rank(team) == longshore_team_size(team) - 1;
  if (longshore_team_size(team) > 1)
    CHECK_REFUSED_BY_ALL(longshore_ghost_create(graph, NULL, &right, is_last ? 0 : 1, &plan),
                         "fields: 0");
  CHECK_REFUSED(longshore_ghost_rebind(NULL, &right, 1), LONGSHORE_ERROR_USAGE, "the plan is NULL");
  CHECK_REFUSED(longshore_ghost_create(graph, NULL, NULL, 1, &plan), LONGSHORE_ERROR_USAGE,
                "the array of fields is NULL");
  CHECK_REFUSED(longshore_ghost_update(NULL), LONGSHORE_ERROR_USAGE, "the plan is NULL");
  CHECK_OK(longshore_ghost_create(graph, NULL, &right, 1, &plan));
  struct longshore_traffic moved;
  CHECK_REFUSED(longshore_ghost_moved(plan, "gather", &moved), LONGSHORE_ERROR_USAGE,
                "allowed are update, accumulate");
  CHECK_REFUSED(longshore_ghost_accumulate_by(plan, NULL, NULL), LONGSHORE_ERROR_USAGE, "is NULL");
  CHECK_REFUSED(longshore_ghost_start_assemble_by(plan, NULL, NULL), LONGSHORE_ERROR_USAGE,
                "function of an accumulate or assemble is NULL");
  CHECK_REFUSED(longshore_ghost_wait(plan), LONGSHORE_ERROR_USAGE, "");
  longshore_ghost_graph* copy = NULL;
  CHECK_OK(longshore_ghost_graph_copy(graph, &copy));
  CHECK_OK(longshore_ghost_graph_free(graph)); /* neither the copy nor the plan needs the graph */
  CHECK(longshore_ghost_graph_ghosts(copy) == 1);
  CHECK_OK(longshore_ghost_graph_free(copy));
  return longshore_ghost_update(plan); /* the end of the run frees the plan */
}

static int run_all_checks(longshore_team* team, void* context) {
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  int64_t ghosts[ghosts_per_rank], elements[ghosts_per_rank], ghost_ids[ghosts_per_rank], ids[20];
  int owners[ghosts_per_rank];
  const int64_t count = ghosts_of(rank, ranks, 0, ghosts), owned = owned_by(rank);
  for (int64_t i = 0; i < count; ++i) {
    owners[i] = owner_of(ghosts[i], &elements[i]);
    ghost_ids[i] = id_of(ghosts[i]);
  }
  for (int64_t i = 0; i < owned; ++i) ids[i] = id_of(first_of(rank) + i);
  longshore_ghost_graph* graphs[4] = {NULL, NULL, NULL, NULL};
  CHECK_OK(longshore_ghost_graph_create(team, owned, ghosts, count, &graphs[0]));
  CHECK_OK(longshore_ghost_graph_create_ids(team, ids, owned, ghost_ids, count, &graphs[1]));
  CHECK_OK(longshore_ghost_graph_create_pairs(team, owned, owners, elements, count, &graphs[2]));
  CHECK_OK(
      longshore_ghost_graph_create_owners(team, ids, owned, owners, ghost_ids, count, &graphs[3]));
  for (int g = 0; g < 4; ++g) {
    PASS(queries(team, graphs[g]));
    PASS(exchange_by(team, graphs[g], NULL, g == 0));
  }
  static const char* const strategies[] = {"standard",       "direct",      "node-aware-2",
                                           "node-aware",     "auto",        "mpi-waitall",
                                           "mpi-persistent", "mpi-neighbor"};
  const int is_mpi = strcmp(longshore_team_transport(team), "mpi") == 0;
  for (int k = 0; k < (is_mpi ? 8 : 5); ++k) {
    PASS(exchange_by(team, graphs[0], strategies[k], k % 2));
    for (int has_places = 0; has_places < 2; ++has_places)
      PASS(bind_to_each(team, graphs[0], strategies[k], has_places));
  }
  PASS(accumulate_bits(team, graphs[2]));
  PASS(remake(team, graphs[0], 'i'));
  PASS(remake(team, graphs[2], 'p'));
  PASS(remake(team, graphs[3], 'o'));
  PASS(wrong_graphs_are_refused(team));
  PASS(wrong_plans_are_refused(team));
  for (int g = 0; g < 4; ++g) CHECK_OK(longshore_ghost_graph_free(graphs[g]));
  (void)context;
  return LONGSHORE_OK;
}

int main(int argc, char** argv) {
  const int code = longshore_run(argc, argv, run_all_checks, NULL);
  if (code != LONGSHORE_OK)
    fprintf(stderr, "%s: %s\n", longshore_error_name(code), longshore_error_message());
  return code == LONGSHORE_OK ? 0 : 1;
}
