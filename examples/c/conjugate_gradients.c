/* Solves A x = b by conjugate gradients, for a sparse matrix in a Matrix Market file.
 *
 * Each rank owns a block of rows, and the same elements of all vectors. A row needs the vector
 * elements of its columns. Elements that other ranks own are the ghosts of the rank. A ghost
 * exchange copies the ghosts before each product. Meanwhile the rank multiplies the rows that need
 * no ghost.
 *
 * Verification: the residual b - A x, and the known solution.
 *
 *     LONGSHORE_RANKS=4 conjugate_gradients        mpirun -n 4 conjugate_gradients FILE.mtx */
#include <longshore.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                          \
  do {                                     \
    const int code = (call);               \
    if (code != LONGSHORE_OK) return code; \
  } while (0)

/* An entry of a row: its column and its place in a vector of this rank, in which the ghosts come
 * after the elements that the rank owns. */
struct entry {
  int64_t row, column, place;
  double value;
};

struct matrix {
  int64_t size, first, rows; /* rows of all ranks; first row and rows of this rank */
  struct entry* entries;     /* of this rank, by rows */
  int64_t count;
  int64_t* ghosts; /* the columns of other ranks, ascending */
  int64_t ghost_count;
  char* needs_ghosts; /* for each row */
};

/* Writes a Matrix Market file: the Laplacian of a square of n x n cells, numbered without order. */
enum { n = 24 };
static int row_of(int x, int y) { return 1 + (x + n * y) * 229 % (n * n); }

static void write_link(FILE* file, int a, int b) {
  fprintf(file, "%d %d -1\n", a > b ? a : b, a > b ? b : a);
}

static void write_poisson(FILE* file) {
  fprintf(file, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", n * n, n * n,
          n * n + 2 * n * (n - 1));
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      fprintf(file, "%d %d 4\n", row_of(x, y), row_of(x, y));
      if (x + 1 < n) write_link(file, row_of(x, y), row_of(x + 1, y));
      if (y + 1 < n) write_link(file, row_of(x, y), row_of(x, y + 1));
    }
  rewind(file);
}

static int by_row(const void* a, const void* b) {
  const struct entry *const p = a, *const q = b;
  if (p->row != q->row) return p->row < q->row ? -1 : 1;
  return (p->column > q->column) - (p->column < q->column);
}

static int by_number(const void* a, const void* b) {
  const int64_t p = *(const int64_t*)a, q = *(const int64_t*)b;
  return (p > q) - (p < q);
}

static int is_mine(const struct matrix* a, int64_t row) {
  return row >= a->first && row < a->first + a->rows;
}

static void add_entry(struct matrix* a, int64_t row, int64_t column, double value) {
  if (!is_mine(a, row)) return;
  if ((a->count & (a->count - 1)) == 0) /* a power of two: the memory is full */
    a->entries = realloc(a->entries, sizeof(struct entry) * (size_t)(a->count ? 2 * a->count : 1));
  a->entries[a->count++] = (struct entry){row, column, 0, value};
}

/* Reads the rows of this rank. */
static int read_matrix(FILE* file, const longshore_team* team, struct matrix* a) {
  char line[1024];
  long long columns, entries, size, row, column;
  double value;
  if (!fgets(line, sizeof line, file) || !strstr(line, "MatrixMarket matrix coordinate"))
    return longshore_fail(LONGSHORE_ERROR_PROGRAM, "this is no Matrix Market file");
  const int is_symmetric = strstr(line, "symmetric") != NULL;
  do {
    if (!fgets(line, sizeof line, file)) line[0] = '\0';
  } while (line[0] == '%');
  if (sscanf(line, "%lld %lld %lld", &size, &columns, &entries) != 3 || size != columns)
    return longshore_fail(LONGSHORE_ERROR_PROGRAM, "the Matrix Market file is wrong");
  const int rank = longshore_team_rank(team), ranks = longshore_team_size(team);
  a->size = size;
  a->first = size * rank / ranks;
  a->rows = size * (rank + 1) / ranks - a->first;
  for (; entries > 0 && fscanf(file, "%lld %lld %lf", &row, &column, &value) == 3; --entries) {
    add_entry(a, row - 1, column - 1, value);
    if (is_symmetric && row != column) add_entry(a, column - 1, row - 1, value);
  }
  return entries == 0
             ? LONGSHORE_OK
             : longshore_fail(LONGSHORE_ERROR_PROGRAM, "the Matrix Market file ends early");
}

static void find_ghosts(struct matrix* a) {
  if (a->count > 0) qsort(a->entries, (size_t)a->count, sizeof(struct entry), by_row);
  int64_t* const found = malloc(sizeof(int64_t) * (size_t)(a->count + 1));
  int64_t count = 0;
  for (int64_t k = 0; k < a->count; ++k)
    if (!is_mine(a, a->entries[k].column)) found[count++] = a->entries[k].column;
  qsort(found, (size_t)count, sizeof(int64_t), by_number);
  a->ghosts = found;
  a->ghost_count = 0;
  for (int64_t k = 0; k < count; ++k)
    if (k == 0 || found[k] != found[k - 1]) found[a->ghost_count++] = found[k];
  a->needs_ghosts = calloc((size_t)a->rows + 1, 1);
  for (int64_t k = 0; k < a->count; ++k) {
    struct entry* const e = &a->entries[k];
    if (is_mine(a, e->column)) {
      e->place = e->column - a->first;
    } else {
      const int64_t* const ghost =
          bsearch(&e->column, found, (size_t)a->ghost_count, sizeof(int64_t), by_number);
      e->place = a->rows + (ghost - found);
      a->needs_ghosts[e->row - a->first] = 1;
    }
  }
}

/* q = A p for the rows with ghosts, or for those without. */
static void multiply(const struct matrix* a, int with_ghosts, const double* p, double* q) {
  for (int64_t i = 0; i < a->rows; ++i)
    if (a->needs_ghosts[i] == with_ghosts) q[i] = 0;
  for (int64_t k = 0; k < a->count; ++k) {
    const struct entry* const e = &a->entries[k];
    const int64_t i = e->row - a->first;
    if (a->needs_ghosts[i] == with_ghosts) q[i] += e->value * p[e->place];
  }
}

static int product(const struct matrix* a, longshore_ghost* ghosts, const double* p, double* q) {
  TRY(longshore_ghost_start_update(ghosts));
  multiply(a, 0, p, q);
  TRY(longshore_ghost_wait(ghosts));
  multiply(a, 1, p, q);
  return LONGSHORE_OK;
}

static int dot(longshore_team* team, const struct matrix* a, const double* v, const double* w,
               double* sum) {
  *sum = 0;
  for (int64_t i = 0; i < a->rows; ++i) *sum += v[i] * w[i];
  return longshore_allreduce(team, sum, 1, LONGSHORE_FLOAT64, LONGSHORE_SUM);
}

static double solution(int64_t i) { return sin(0.1 * (double)i) + 2; }

static int solve(longshore_team* team, const struct matrix* a, int is_poisson) {
  const size_t rows = (size_t)a->rows + 1; /* malloc(0) may return NULL */
  double *const b = calloc(rows, sizeof(double)), *const x = calloc(rows, sizeof(double)),
                *const r = calloc(rows, sizeof(double)), *const q = calloc(rows, sizeof(double));
  /* In this memory neighbours read the elements themselves, without messages. */
  longshore_memory* memory = NULL;
  void* data = NULL;
  TRY(longshore_memory_create(team, sizeof(double) * (rows + (size_t)a->ghost_count), &memory,
                              &data));
  double* const p = data;
  longshore_ghost_graph* graph = NULL;
  longshore_ghost* ghosts = NULL;
  TRY(longshore_ghost_graph_create(team, a->rows, a->ghosts, a->ghost_count, &graph));
  const struct longshore_ghost_field field = {
      .owned = p, .ghosts = p + a->rows, .type = LONGSHORE_FLOAT64};
  const struct longshore_ghost_options options = {.accumulates = -1};
  TRY(longshore_ghost_create(graph, &options, &field, 1, &ghosts));

  for (int64_t k = 0; k < a->count; ++k)
    b[a->entries[k].row - a->first] += a->entries[k].value * solution(a->entries[k].column);
  for (int64_t i = 0; i < a->rows; ++i) p[i] = r[i] = b[i];
  double bb, rr, pq;
  TRY(dot(team, a, b, b, &bb));
  rr = bb;
  int steps = 0;
  for (; rr > 1e-24 * bb && steps < 10 * a->size; ++steps) {
    TRY(product(a, ghosts, p, q));
    TRY(dot(team, a, p, q, &pq));
    const double alpha = rr / pq, before = rr;
    for (int64_t i = 0; i < a->rows; ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    TRY(dot(team, a, r, r, &rr));
    for (int64_t i = 0; i < a->rows; ++i) p[i] = r[i] + rr / before * p[i];
  }

  for (int64_t i = 0; i < a->rows; ++i) p[i] = x[i];
  TRY(product(a, ghosts, p, q));
  double error = 0;
  for (int64_t i = 0; i < a->rows; ++i) {
    r[i] = b[i] - q[i];
    error = fmax(error, fabs(x[i] - solution(a->first + i)));
  }
  TRY(dot(team, a, r, r, &rr));
  TRY(longshore_allreduce(team, &error, 1, LONGSHORE_FLOAT64, LONGSHORE_MAX));
  const double residual = sqrt(rr / bb);
  const int right = residual < 1e-9 && (!is_poisson || error < 1e-9);
  if (longshore_team_rank(team) == 0)
    printf("conjugate_gradients: ranks=%d rows=%lld steps=%d residual=%.1e verified=%s\n",
           longshore_team_size(team), (long long)a->size, steps, residual, right ? "yes" : "no");
  TRY(longshore_ghost_free(ghosts));
  free(b);
  free(x);
  free(r);
  free(q);
  return right ? LONGSHORE_OK : longshore_fail(LONGSHORE_ERROR_PROGRAM, "the solution is wrong");
}

static int read_and_solve(longshore_team* team, void* name) {
  FILE* const file = name ? fopen(name, "r") : tmpfile();
  if (!file) return longshore_fail(LONGSHORE_ERROR_PROGRAM, "cannot open the file");
  if (!name) write_poisson(file);
  struct matrix a = {0};
  TRY(read_matrix(file, team, &a));
  fclose(file);
  find_ghosts(&a);
  TRY(solve(team, &a, name == NULL));
  free(a.entries);
  free(a.ghosts);
  free(a.needs_ghosts);
  return LONGSHORE_OK;
}

int main(int argc, char** argv) {
  if (longshore_run(argc, argv, read_and_solve, argc > 1 ? argv[1] : NULL) == LONGSHORE_OK)
    return 0;
  fprintf(stderr, "conjugate_gradients: %s\n", longshore_error_message());
  return 1;
}
