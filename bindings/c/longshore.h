/* The C face of Longshore: teams of ranks, distributed arrays, gather, scatter and histogram, halo
 * exchange, sorting, STREAM. Plain C99, also for C++; every other language that calls C can stand
 * on it, as the Fortran module does.
 *
 * Conventions
 *
 * - Ranks. A team is one rank's view of a run. longshore_run starts the ranks, threads or
 *   processes, and calls a function of the program once on each; longshore_mpi.h makes a team of a
 *   communicator. Every rank has handles of its own.
 * - Errors. Functions that can fail return 0 (LONGSHORE_OK) or a code of enum longshore_error;
 *   longshore_error_message() then says what happened, on which rank, what was given and what is
 *   allowed. It belongs to the calling thread and holds until the next call that fails there.
 *   Functions that only ask return the answer, and need a handle that is valid. No exception leaves
 *   a call.
 * - Going on after an error. LONGSHORE_ERROR_USAGE and _UNSUPPORTED of a collective call are met by
 *   all ranks alike where its arguments are the same on all, and nothing was done. What only one
 *   rank gives wrongly (a NULL, a negative count, a field without cells) is refused there and then:
 *   the others wait for that rank, and meet LONGSHORE_ERROR_TIMEOUT or _PEER_FAILED unless it
 *   leaves or makes the call as it should be. After LONGSHORE_ERROR_TIMEOUT, _PEER_FAILED and
 *   _TRANSPORT only leave: return the code.
 * - Owning. What a function named ..._create gives is freed by ..._free, newest first where one
 *   stands on another. Both are collective unless said otherwise. What is left is freed when the
 *   run or the team ends. NULL may be freed. Memory that a program gives stays its own, and is
 *   neither kept nor written after a call returns, except where the call says so (halo plans).
 * - Collective calls are made by all ranks of the team in the same order. Each team, and what was
 *   made with it, is used by the thread that it was made in; from another, calls that can fail do,
 *   with LONGSHORE_ERROR_USAGE. A handle that was freed must not be used: nothing finds that but a
 *   sanitizer.
 * - Names of strategies, modes and so on are texts, the words of longshore-bench; NULL is the
 *   default. A wrong one is refused with the list of those that there are. Options are structs
 *   whose zero bytes are the defaults: struct longshore_gather_options o = {0};
 * - Arrays of three numbers are in the order x, y, z, x being the index that is next to each other
 *   in memory. Sizes and indices are int64_t, count elements and begin at 0. Seconds are seconds,
 *   bytes are bytes. */
#ifndef LONGSHORE_H
#define LONGSHORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors and types ---- */

/* Codes are never renumbered. */
enum longshore_error {
  LONGSHORE_OK = 0,
  /* the caller asked for something that makes no sense: nothing was done */
  LONGSHORE_ERROR_USAGE = 1,
  LONGSHORE_ERROR_UNSUPPORTED = 2,   /* makes sense, but not on this transport, build or machine */
  LONGSHORE_ERROR_OUT_OF_MEMORY = 3, /* the memory asked for is not there */
  /* a wait passed its deadline (LONGSHORE_TIMEOUT in the environment, seconds) */
  LONGSHORE_ERROR_TIMEOUT = 4,
  LONGSHORE_ERROR_PEER_FAILED = 5, /* another rank failed first; its error is the one to read */
  LONGSHORE_ERROR_TRANSPORT = 6,   /* the library underneath (MPI, ...) reported an error */
  /* the program's own function, given to longshore_run, returned another number than 0 */
  LONGSHORE_ERROR_PROGRAM = 100
};

/* Of elements. */
enum longshore_type {
  LONGSHORE_INT8 = 1,
  LONGSHORE_INT16 = 2,
  LONGSHORE_INT32 = 3,
  LONGSHORE_INT64 = 4,
  LONGSHORE_UINT8 = 5,
  LONGSHORE_UINT16 = 6,
  LONGSHORE_UINT32 = 7,
  LONGSHORE_UINT64 = 8,
  LONGSHORE_FLOAT32 = 9,
  LONGSHORE_FLOAT64 = 10,
  LONGSHORE_BYTES = 11 /* of any kind: then their size is given beside it */
};

/* Of values of several ranks. The last three are of the bits of integers, in updates; allreduce has
 * the first three. */
enum longshore_reduction {
  LONGSHORE_SUM = 1,
  LONGSHORE_MIN = 2,
  LONGSHORE_MAX = 3,
  LONGSHORE_XOR = 4,
  LONGSHORE_OR = 5,
  LONGSHORE_AND = 6
};

typedef struct longshore_team longshore_team;
typedef struct longshore_array longshore_array;
typedef struct longshore_gather_plan longshore_gather_plan;
typedef struct longshore_scatter_plan longshore_scatter_plan;
typedef struct longshore_histogram_plan longshore_histogram_plan;
typedef struct longshore_update_plan longshore_update_plan;
typedef struct longshore_grid longshore_grid;
typedef struct longshore_memory longshore_memory;
typedef struct longshore_halo longshore_halo;
typedef struct longshore_sorter longshore_sorter;
typedef struct longshore_stream longshore_stream;

/* "0.1.0" */
const char* longshore_version(void);
/* Of the last call of this thread that failed; "" when there was none. */
const char* longshore_error_message(void);
/* Keeps a message for this thread as if a call had failed, and returns the code: for functions that
 * longshore_run calls, and for faces of other languages. */
int longshore_fail(int code, const char* message);
/* For what cannot return a code: prints the name of `code` with this thread's message, and ends all
 * ranks, threads or processes, with status 3. Does not return. */
void longshore_end(int code);
/* "usage", "timeout", ...; "unknown" for what is no code. */
const char* longshore_error_name(int code);
/* Bytes of an element; 0 for LONGSHORE_BYTES and for what is no type. */
size_t longshore_type_bytes(int type);

/* ---- runs and teams ---- */

/* What a run calls on each rank. Another number than 0 says that this rank cannot go on: it ends
 * the run. */
typedef int (*longshore_main)(longshore_team* team, void* context);

/* Runs `body` once on every rank of a run, and returns 0 when all returned 0. Which transport, how
 * many ranks and so on is said by the environment: LONGSHORE_TRANSPORT (threads, mpi, shmem, ucx;
 * by default mpi under its launcher, else threads), LONGSHORE_RANKS (threads only; as many as
 * cores), LONGSHORE_RANKS_PER_NODE, LONGSHORE_TIMEOUT, LONGSHORE_CHECK, LONGSHORE_PIN. On threads
 * `body` runs in threads of this process, rank 0 in the calling one, and a failure is returned as
 * its code. Where ranks are processes a failure ends all of them with status 3 and one message per
 * host; MPI is started unless the program has done so, and then ended. `argc` and `argv` may be 0
 * and NULL. */
int longshore_run(int argc, char** argv, longshore_main body, void* context);

/* Ends a team that longshore_mpi.h made, and frees what was made with it. Collective; not for teams
 * of longshore_run. */
int longshore_finalize(longshore_team* team);

int longshore_team_rank(const longshore_team* team);
int longshore_team_size(const longshore_team* team);
/* Nodes are ranks that share memory; virtual ones where LONGSHORE_RANKS_PER_NODE says so. */
int longshore_team_nodes(const longshore_team* team);
/* "threads", "mpi", ... */
const char* longshore_team_transport(const longshore_team* team);
/* Seconds on the transport's clock; differences mean something on one rank. */
double longshore_team_seconds(const longshore_team* team);

/* Collective, all of them. What was stored before a barrier is seen by all after it. O(log nodes)
 * messages. Over mpi a block of one rank is of 2^31 - 1 bytes at most: more is refused. */
int longshore_barrier(longshore_team* team);
/* `bytes` bytes at `data` of rank `root`, to `data` of all. */
int longshore_broadcast(longshore_team* team, void* data, size_t bytes, int root);
/* Element by element over the ranks, in place; of any type but LONGSHORE_BYTES. Integers are
 * reduced as int64 (uint64 as itself), sums wrap around; floats as float64. */
int longshore_allreduce(longshore_team* team, void* values, int64_t count, int type, int reduction);
/* all[r x bytes ...] = `mine` of rank r. */
int longshore_allgather(longshore_team* team, const void* mine, size_t bytes, void* all);
/* Block r of `outgoing` goes to rank r, block r of `incoming` comes from it; blocks of `bytes`
 * bytes. */
int longshore_alltoall(longshore_team* team, const void* outgoing, size_t bytes, void* incoming);

/* ---- distributed arrays ---- */

/* An array of `size` elements over all ranks, zero at first. Types of 4 and of 8 bytes (int32 to
 * float64), and LONGSHORE_BYTES with `element_bytes` 4 or 8; else `element_bytes` is 0.
 * `distribution`: "block" (default; the remainder on the first ranks, one each) or "cyclic"
 * (element i on rank i mod ranks). Collective. Memory per rank: that of the rank with most
 * elements. */
int longshore_array_create(longshore_team* team, int type, size_t element_bytes, int64_t size,
                           const char* distribution, longshore_array** array);
/* The same, dealt to the ranks in turn in blocks of `block_items` elements, 1 or more: element i on
 * rank (i / block_items) mod ranks. A rank's blocks lie one after the other. */
int longshore_array_create_block_cyclic(longshore_team* team, int type, size_t element_bytes,
                                        int64_t size, int64_t block_items, longshore_array** array);
/* LONGSHORE_ERROR_USAGE, on all ranks, while plans for it exist. */
int longshore_array_free(longshore_array* array);
int64_t longshore_array_size(const longshore_array* array);
/* This rank's elements, which it may load and store at any time that no other rank reaches for
 * them; how many. */
void* longshore_array_local(longshore_array* array);
int64_t longshore_array_local_size(const longshore_array* array);
/* Global index of local element `offset`; -1 where there is none. */
int64_t longshore_array_index(const longshore_array* array, int64_t offset);
/* The rank that has an element, and where in its part; -1 for an index that there is not. */
int longshore_array_owner(const longshore_array* array, int64_t index, int64_t* offset);

/* ---- gather, scatter, histogram, update ---- */

struct longshore_gather_options {
  /* "auto" (default), "agp", "exstack", "exstack2", "conveyor", "aggregator", "direct" */
  const char* strategy;
  int64_t buffer_items; /* of strategies that aggregate: items per destination; 0: 1024 */
  int hops;             /* of "conveyor": 1, 2 or 3; 0: chosen */
  /* 1: what a buffer holds twice for one element is combined before it leaves */
  int combine;
  int64_t expected_requests; /* of "auto": most requests of a rank in one call; 0: not known */
};

/* A plan is made once and used often: nothing is allocated while it is used. "auto" measures for a
 * part of a second where this machine's profile does not know the layout yet. Using one is
 * collective with strategies that aggregate and with "auto". No barrier is made: put one between
 * what writes an array and what reads it. `indices` are global, any number of them, different on
 * each rank. An index out of range: LONGSHORE_ERROR_USAGE here, LONGSHORE_ERROR_PEER_FAILED on the
 * others if they aggregate; the plan can be used again. Cost of n requests per rank:
 * docs/reference/gather.md, by strategy. */
int longshore_gather_create(longshore_array* table, const struct longshore_gather_options* options,
                            longshore_gather_plan** plan);
int longshore_gather_free(longshore_gather_plan* plan);
/* out[i] = table[indices[i]] for all i below `count`. */
int longshore_gather_run(longshore_gather_plan* plan, const int64_t* indices, int64_t count,
                         void* out);
/* The strategy in use: what "auto" has become, for the last call. */
const char* longshore_gather_strategy(const longshore_gather_plan* plan);
/* One gather with a plan of its own. */
int longshore_gather(longshore_array* table, const int64_t* indices, int64_t count, void* out,
                     const struct longshore_gather_options* options);

/* table[indices[i]] = values[i]. Of two values for one element one wins, whole. */
int longshore_scatter_create(longshore_array* table, const struct longshore_gather_options* options,
                             longshore_scatter_plan** plan);
int longshore_scatter_free(longshore_scatter_plan* plan);
int longshore_scatter_run(longshore_scatter_plan* plan, const int64_t* indices, int64_t count,
                          const void* values);
const char* longshore_scatter_strategy(const longshore_scatter_plan* plan);
int longshore_scatter(longshore_array* table, const int64_t* indices, int64_t count,
                      const void* values, const struct longshore_gather_options* options);

/* table[indices[i]] += values[i], nothing lost however many ranks meet at an element. Of any type
 * but LONGSHORE_BYTES; integers wrap around. `values` NULL: 1 for each index, which then need not
 * travel. */
int longshore_histogram_create(longshore_array* table,
                               const struct longshore_gather_options* options,
                               longshore_histogram_plan** plan);
int longshore_histogram_free(longshore_histogram_plan* plan);
int longshore_histogram_run(longshore_histogram_plan* plan, const int64_t* indices, int64_t count,
                            const void* values);
const char* longshore_histogram_strategy(const longshore_histogram_plan* plan);
int longshore_histogram(longshore_array* table, const int64_t* indices, int64_t count,
                        const void* values, const struct longshore_gather_options* options);

/* table[indices[i]] = operation(table[indices[i]], values[i]) by one of enum longshore_reduction,
 * nothing lost however many ranks meet at an element: LONGSHORE_MIN keeps the smallest. Of any type
 * but LONGSHORE_BYTES; what an element has before counts, and zero is what arrays begin with.
 * Minimum and maximum are not for NaN, which is neither. */
int longshore_update_create(longshore_array* table, int operation,
                            const struct longshore_gather_options* options,
                            longshore_update_plan** plan);
int longshore_update_free(longshore_update_plan* plan);
int longshore_update_run(longshore_update_plan* plan, const int64_t* indices, int64_t count,
                         const void* values);
const char* longshore_update_strategy(const longshore_update_plan* plan);
int longshore_update(longshore_array* table, const int64_t* indices, int64_t count,
                     const void* values, int operation,
                     const struct longshore_gather_options* options);

/* ---- halo exchange ---- */

struct longshore_grid_options {
  int dimensions; /* 1 to 3; 0: 3 */
  int ranks[3];   /* ranks along x, y, z; 0: found */
  int open[3];    /* 1: the domain ends there; 0: it wraps around */
  /* "linear" (default): rank = x + X (y + Y z); "cart", "auto": docs/guides/placement.md */
  const char* placement;
  /* of the whole domain: the grid that is found cuts it with the least surface; 0: factors are
   * balanced */
  int64_t cells[3];
};

/* The ranks of a team as a Cartesian grid. Collective. */
int longshore_grid_create(longshore_team* team, const struct longshore_grid_options* options,
                          longshore_grid** grid);
int longshore_grid_free(longshore_grid* grid);
int longshore_grid_dimensions(const longshore_grid* grid);
/* Ranks along x, y, z, and where this rank sits. */
void longshore_grid_shape(const longshore_grid* grid, int shape[3]);
void longshore_grid_coordinates(const longshore_grid* grid, int coordinates[3]);
/* The rank that is `step` away, each number -1, 0 or 1; -1 beyond a border. */
int longshore_grid_neighbour(const longshore_grid* grid, const int step[3]);
/* This rank's piece of `cells` cells along a dimension: the remainder is spread over the first
 * pieces. Nothing of a dimension that is not 0 to 2. */
void longshore_grid_piece(const longshore_grid* grid, int dimension, int64_t cells, int64_t* first,
                          int64_t* count);

/* Memory that the ranks of the node can read: fields that lie in it, which plans find by their
 * addresses, are not packed in mode "direct" between processes. Zero at first, aligned to 64 bytes
 * at least. Local; it is needed until the plans for it are freed. */
int longshore_memory_create(longshore_team* team, size_t bytes, longshore_memory** memory,
                            void** data);
int longshore_memory_free(longshore_memory* memory);
/* The memory in which an address lies; NULL where it lies in none. */
longshore_memory* longshore_memory_of(const longshore_team* team, const void* cell);

/* A block of cells with a halo around it, in memory of the program. */
struct longshore_field {
  void* first;          /* interior cell (0, 0, 0) */
  int type;             /* enum longshore_type */
  size_t element_bytes; /* of LONGSHORE_BYTES; else 0 */
  int64_t extents[3];   /* interior cells along x, y, z; 1 (or 0) beyond the grid's dimensions */
  /* elements from one cell to the next along x, y, z; of any sign and order */
  int64_t strides[3];
  int low[3];  /* cells of halo that exist in memory on the low sides, */
  int high[3]; /* and on the high sides */
};

/* Fills in a field whose rows lie one after the other with their halo, and x is next to each other:
 * `cells` is the first one in memory, a corner of the halo. With LONGSHORE_BYTES `first` stays
 * NULL: the program fills it in with `element_bytes`. */
void longshore_field_dense(struct longshore_field* field, void* cells, int type,
                           const int64_t extents[3], const int low[3], const int high[3]);

struct longshore_halo_options {
  /* "standard" (default), "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto" */
  const char* algorithm;
  /* "direct" (default), "channel", and the modes that are MPI calls: docs/reference/halo.md */
  const char* mode;
  const char* reach; /* what the stencil reads: "corners" (default), "edges", "faces" */
  /* cells that are exchanged on the low sides, x, y, z, and on the high sides; */
  const int* low;
  const int* high; /* both NULL: all of the halo in memory */
  /* who copies large messages: "serial" (default), "threads", "openmp", "tbb" */
  const char* tasks;
  int task_count; /* of each rank; 0: its share of the cores */
};

/* A plan for `count` fields, exchanged together; of any types. Collective: the same options, and
 * fields of the same kind in the same order, on all ranks. The memory of the fields must stay until
 * the plan is freed. */
int longshore_halo_create(const longshore_grid* grid, const struct longshore_halo_options* options,
                          const struct longshore_field* fields, int count, longshore_halo** plan);
/* Not in flight: LONGSHORE_ERROR_USAGE. */
int longshore_halo_free(longshore_halo* plan);
/* Begins an exchange. Until it is complete neither the cells that leave may be written nor the halo
 * read or written. */
int longshore_halo_start(longshore_halo* plan);
/* Goes on with it; *complete becomes 1 when it is. */
int longshore_halo_test(longshore_halo* plan, int* complete);
/* Returns when the halo of this rank is filled and its own cells may be written. */
int longshore_halo_wait(longshore_halo* plan);
/* start and wait. */
int longshore_halo_exchange(longshore_halo* plan);
/* The algorithm; what was chosen where "auto" was asked for. */
const char* longshore_halo_algorithm(const longshore_halo* plan);
/* Rounds of an exchange that depend on each other and move something between ranks. */
int longshore_halo_rounds(const longshore_halo* plan);

/* What one rank moves in one exchange; the kinds of bytes are never mixed. */
struct longshore_traffic {
  int64_t messages;      /* to other ranks; what is copied by loads and stores is no message */
  int64_t payload_bytes; /* what is to be moved, also to itself */
  int64_t wire_bytes;    /* what the messages carry */
  int64_t offnode_bytes; /* of these, to other nodes */
};
void longshore_halo_moved(const longshore_halo* plan, struct longshore_traffic* moved);

/* ---- sorting ---- */

struct longshore_sort_options {
  /* "auto" (default), "put", "put-scan", "direct", "sendrecv", "alltoallv", "rma", "channel",
   * "two-hop" */
  const char* exchange;
  /* "round-robin" (default), "random", "random-private", "xor", "incast", "node-aware" */
  const char* order;
  int64_t max_key; /* of integer keys: they are from 0 to max_key - 1; 0: the range is found */
  /* 1: buckets are cut by samples of the keys, for keys that are not evenly spread; 0: at equal
   * widths */
  int sampled;
  int stable;        /* 1: keys that are equal stay in the order of rank and place */
  const char* tasks; /* "serial" (default), "threads", "openmp", "tbb" */
  int task_count;    /* of each rank; 0: its share of the cores */
};

/* Sorts keys over all ranks, often: buffers are kept. `key_type`: any type but LONGSHORE_BYTES;
 * floats are ordered by their bits, -0.0 below 0.0. Each key may have a payload of `payload_bytes`
 * bytes, 0 to 56. Collective. */
int longshore_sorter_create(longshore_team* team, int key_type, size_t payload_bytes,
                            const struct longshore_sort_options* options,
                            longshore_sorter** sorter);
int longshore_sorter_free(longshore_sorter* sorter);
/* Any number of keys per rank; `payloads` NULL only where they have none. Afterwards this rank has
 * the *count keys of its part, ascending; no key of a rank is above one of a later rank.
 * Collective. A key outside max_key: LONGSHORE_ERROR_USAGE here, _PEER_FAILED on the others; the
 * sorter can be used again. */
int longshore_sorter_run(longshore_sorter* sorter, const void* keys, const void* payloads,
                         int64_t count, int64_t* received);
/* Copies the result of the last run: as many keys as received, and payloads (NULL: not wanted).
 * Local. */
int longshore_sorter_result(const longshore_sorter* sorter, void* keys, void* payloads);
/* What "auto" became in the last run. */
const char* longshore_sorter_exchange(const longshore_sorter* sorter);

/* ---- STREAM ---- */

struct longshore_stream_options {
  const char* kernel; /* "triad" (default), "copy", "scale", "add" */
  /* policy: "malloc" (default), "calloc", "huge", "interleave", ...: docs/reference/stream.md */
  const char* memory;
  const char* tasks; /* "serial" (default), "threads", "openmp", "tbb" */
  int task_count;    /* of each rank; 0: its share of the cores */
  int streaming;     /* 1: results are stored past the caches */
};

/* Three arrays of `elements` elements of this rank, of type LONGSHORE_FLOAT32 or _FLOAT64. All of
 * these calls are local. */
int longshore_stream_create(longshore_team* team, int type, int64_t elements,
                            const struct longshore_stream_options* options,
                            longshore_stream** stream);
int longshore_stream_free(longshore_stream* stream);
/* The kernel, once over all elements. */
int longshore_stream_run(longshore_stream* stream);
/* Bytes that one run counts, by STREAM's rule. */
int64_t longshore_stream_bytes(const longshore_stream* stream);
/* Elements that differ from what the runs should have left. */
int64_t longshore_stream_wrong(longshore_stream* stream);

#ifdef __cplusplus
}
#endif

#endif
