/* The C interface of Longshore: teams of ranks, distributed arrays, gather, scatter, histogram and
 * update, halos, ghosts, boxes, sorting, STREAM. The header is C99 and also valid C++. The
 * Fortran module is generated from this header.
 *
 * Conventions
 *
 * - Ranks. A team is one rank's view of a run. longshore_run starts the ranks (threads or
 *   processes) and calls a function of the program once on each. longshore_mpi.h creates a team
 *   from a communicator. Every rank has its own handles.
 * - Errors. Functions that can fail return LONGSHORE_OK (0) or another code of enum
 *   longshore_error. After a failure longshore_error_message() says what happened, on which rank,
 *   which value was given and which values are allowed. The message belongs to the calling thread
 *   and is valid until the next failure in that thread. Functions that only return a property of a
 *   handle have no error code and require a valid handle. C++ exceptions never escape.
 * - After an error. If a collective call has the same arguments on all ranks, LONGSHORE_ERROR_USAGE
 *   and LONGSHORE_ERROR_UNSUPPORTED are returned on all ranks and the call had no effect. If only
 *   one rank gives a wrong argument (a NULL, a negative count, an unknown name) to a call that
 *   makes an object, that rank gets LONGSHORE_ERROR_USAGE and the others
 *   LONGSHORE_ERROR_PEER_FAILED, with the same message; the call had no effect, and all ranks can
 *   go on. In other calls the other ranks wait for that rank, which must repeat the call correctly
 *   or leave the run. If it does not repeat the call, the other ranks return
 *   LONGSHORE_ERROR_TIMEOUT or LONGSHORE_ERROR_PEER_FAILED. After these codes and
 *   LONGSHORE_ERROR_TRANSPORT, a program can only leave the run by returning the code.
 * - Ownership. Functions ..._create make objects, functions ..._free free them. Free an object
 *   before the objects that it uses. Creating and freeing are collective unless documented
 *   otherwise. The end of the run or of the team frees all remaining objects. ..._free accepts
 *   NULL. When a call has returned, the library no longer uses the memory that the program gave to
 *   this call, except for the fields of halo, ghost and box plans.
 * - Collective calls are made by all ranks of the team in the same order.
 * - Threads. Use a team, and the objects made with it, only in the thread in which the team was
 *   made. In another thread, functions that can fail return LONGSHORE_ERROR_USAGE.
 * - Do not use freed handles. Only a sanitizer detects this error.
 * - Strategies, modes and other choices are strings, the same as in longshore-bench. NULL selects
 *   the default. The error for an unknown name lists the known names. Options are structs; zero
 *   bytes select the defaults: struct longshore_gather_options o = {0};
 * - Arrays of three numbers are in the order x, y, z. Cells with consecutive x are neighbours in
 *   memory.
 * - Sizes and indices are int64_t and count elements. Indices begin at 0. Times are in seconds. */
#ifndef LONGSHORE_H
#define LONGSHORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors and types ---- */

/* The codes are never renumbered. */
enum longshore_error {
  LONGSHORE_OK = 0,
  /* the arguments make no sense; the call had no effect */
  LONGSHORE_ERROR_USAGE = 1,
  /* the arguments make sense, but not on this transport, build or machine */
  LONGSHORE_ERROR_UNSUPPORTED = 2,
  LONGSHORE_ERROR_OUT_OF_MEMORY = 3, /* there is not enough memory */
  /* a wait exceeded its time limit (LONGSHORE_TIMEOUT in the environment, in seconds) */
  LONGSHORE_ERROR_TIMEOUT = 4,
  LONGSHORE_ERROR_PEER_FAILED = 5, /* another rank failed first; read the error of that rank */
  LONGSHORE_ERROR_TRANSPORT = 6,   /* the library below (MPI, ...) reported an error */
  /* the function that the program gave to longshore_run returned a value other than 0 */
  LONGSHORE_ERROR_PROGRAM = 100
};

/* The type of elements. */
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
  LONGSHORE_BYTES = 11 /* elements of any type; their size is given in another argument */
};

/* Operations that combine two values. Allreduce has sum, minimum and maximum; accumulates and
 * assembles of halos, ghosts and boxes have also OR. Updates have all six operations; XOR, OR and
 * AND combine the bits of integers. */
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
typedef struct longshore_ghost_graph longshore_ghost_graph;
typedef struct longshore_ghost longshore_ghost;
typedef struct longshore_boxes longshore_boxes;
typedef struct longshore_box_exchange longshore_box_exchange;
typedef struct longshore_box_copy longshore_box_copy;
typedef struct longshore_sorter longshore_sorter;
typedef struct longshore_stream longshore_stream;

/* The version of the library, such as "1.2.3". */
const char* longshore_version(void);
/* The message of the last call that failed in this thread; "" if none failed. */
const char* longshore_error_message(void);
/* Stores a message for this thread, as a failed call does, and returns `code`. For functions that
 * longshore_run calls, and for interfaces to other languages. */
int longshore_fail(int code, const char* message);
/* Prints the name of `code` with this thread's message and ends all ranks, threads or processes,
 * with status 3. Does not return. For functions that cannot return a code. */
void longshore_end(int code);
/* The name of a code: "usage", "timeout", ...; "unknown" for a number that is no code. */
const char* longshore_error_name(int code);
/* The size of an element in bytes; 0 for LONGSHORE_BYTES and for a number that is no type. */
size_t longshore_type_bytes(int type);

/* ---- runs and teams ---- */

/* The function that a run calls on each rank. A result other than 0 ends the run, because this rank
 * cannot continue. */
typedef int (*longshore_main)(longshore_team* team, void* context);

/* Starts a run, calls `body` once on every rank, and returns 0 if all ranks returned 0. `argc` and
 * `argv` may be 0 and NULL.
 *
 * The environment configures the run: LONGSHORE_TRANSPORT (threads, mpi, shmem, ucx; default: mpi
 * under its launcher, else threads), LONGSHORE_RANKS (threads only; default: the number of cores),
 * LONGSHORE_RANKS_PER_NODE, LONGSHORE_TIMEOUT, LONGSHORE_CHECK, LONGSHORE_PIN.
 *
 * If ranks are threads, `body` runs in threads of this process, with rank 0 in the calling thread.
 * The call then returns the code of a failure. If ranks are processes, a failure ends all of them
 * with status 3 and prints one message per host. The run initialises and finalises MPI unless the
 * program has initialised it. */
int longshore_run(int argc, char** argv, longshore_main body, void* context);

/* The options of a team of longshore_mpi.h. */
struct longshore_team_options {
  /* ranks of a virtual node; -1: real nodes; 0: LONGSHORE_RANKS_PER_NODE or, if it is not set, real
   * nodes */
  int ranks_per_node;
  /* the deadline of every wait in seconds; -1: none; 0: LONGSHORE_TIMEOUT or, if it is not set,
   * 300 */
  double timeout_seconds;
  /* 1: compare every collective call between ranks; -1: do not; 0: as LONGSHORE_CHECK says or, if
   * it is not set, do not */
  int check_calls;
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Ends a team that longshore_mpi.h created, and frees all objects made with the team. Collective.
 * LONGSHORE_ERROR_USAGE for a team of longshore_run. */
int longshore_finalize(longshore_team* team);

/* This rank, from 0. */
int longshore_team_rank(const longshore_team* team);
/* The number of ranks. */
int longshore_team_size(const longshore_team* team);
/* The number of nodes, whose ranks share memory. LONGSHORE_RANKS_PER_NODE makes virtual nodes. */
int longshore_team_nodes(const longshore_team* team);
/* The transport: "threads", "mpi", ... */
const char* longshore_team_transport(const longshore_team* team);
/* The time of the transport's clock in seconds. Compare times of the same rank only. */
double longshore_team_seconds(const longshore_team* team);

/* The following six calls are collective. */

/* Waits until all ranks have called longshore_barrier. Afterwards every rank sees the values that
 * any rank stored before the barrier. Cost: O(log nodes) messages. */
int longshore_barrier(longshore_team* team);
/* Copies `bytes` bytes from `data` of rank `root` to `data` of all ranks. Over mpi at most 2^31 - 1
 * bytes. */
int longshore_broadcast(longshore_team* team, void* data, size_t bytes, int root);
/* Combines values[i] of all ranks and stores the result in values[i] of every rank, for each i
 * below `count`. `reduction` is LONGSHORE_SUM, LONGSHORE_MIN or LONGSHORE_MAX. Any type but
 * LONGSHORE_BYTES. If a sum of integers does not fit the type, all ranks get
 * LONGSHORE_ERROR_USAGE, and no value has changed. Floating values are combined as float64. */
int longshore_allreduce(longshore_team* team, void* values, int64_t count, int type, int reduction);
/* Like longshore_allreduce, but stores the results on rank `root` only. The values of the other
 * ranks do not change. Floating values are combined in the order of ranks, so a sum has the same
 * bits in every run and over every transport. Cost: all values travel to `root`, which combines
 * them there. Sums of integers cost an allreduce instead, by which all ranks learn whether the sums
 * fit the type. */
int longshore_reduce(longshore_team* team, void* values, int64_t count, int type, int reduction,
                     int root);
/* Stores the `bytes` bytes at `mine` of rank r at offset r x bytes in `all` of every rank. Over mpi
 * the block of one rank has at most 2^31 - 1 bytes. */
int longshore_allgather(longshore_team* team, const void* mine, size_t bytes, void* all);
/* Sends block r of `outgoing` to rank r, and stores the block from rank r as block r of `incoming`.
 * Every block has `bytes` bytes, over mpi at most 2^31 - 1. */
int longshore_alltoall(longshore_team* team, const void* outgoing, size_t bytes, void* incoming);

/* ---- distributed arrays ---- */

/* Creates an array of `size` elements that are distributed over all ranks and initially zero.
 * `type`: a type of 4 or 8 bytes (int32 to float64) with `element_bytes` 0, or LONGSHORE_BYTES with
 * `element_bytes` 4 or 8. `distribution`: "block" (default; with a remainder, the first ranks have
 * one element more) or "cyclic" (element i is on rank i mod ranks). Collective. Every rank
 * allocates memory for the largest number of elements of a rank. */
int longshore_array_create(longshore_team* team, int type, size_t element_bytes, int64_t size,
                           const char* distribution, longshore_array** array);
/* Like longshore_array_create, with a block-cyclic distribution: the ranks get blocks of
 * `block_items` elements (1 or more) in turn, so that element i is on rank (i / block_items) mod
 * ranks. The blocks of a rank are contiguous in its memory. */
int longshore_array_create_block_cyclic(longshore_team* team, int type, size_t element_bytes,
                                        int64_t size, int64_t block_items, longshore_array** array);
/* Collective. LONGSHORE_ERROR_USAGE, on all ranks, while plans for the array exist. */
int longshore_array_free(longshore_array* array);
/* The number of elements on all ranks. */
int64_t longshore_array_size(const longshore_array* array);
/* The elements of this rank. The rank may load and store them whenever no other rank accesses
 * them. */
void* longshore_array_local(longshore_array* array);
/* The number of elements of this rank. */
int64_t longshore_array_local_size(const longshore_array* array);
/* The global index of the local element `offset`; -1 if there is no such element. */
int64_t longshore_array_index(const longshore_array* array, int64_t offset);
/* The rank that has the element `index`; -1 if there is no such element. Stores the position of the
 * element among that rank's elements in *offset, unless `offset` is NULL. */
int longshore_array_owner(const longshore_array* array, int64_t index, int64_t* offset);

/* ---- gather, scatter, histogram, update ---- */

struct longshore_gather_options {
  /* "auto" (default), "agp", "exstack", "exstack2", "conveyor", "aggregator", "direct" */
  const char* strategy;
  /* items per destination in the buffers of aggregating strategies; if 0, the library chooses: 1024
   * on one host, more between hosts */
  int64_t buffer_items;
  int hops; /* of "conveyor", 1 to 3; if 0, the library chooses */
  /* if 1, requests in one buffer for the same element are combined before they are sent */
  int combine;
  /* for "auto": the largest number of requests of a rank in one call; 0 means unknown */
  int64_t expected_requests;
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Gather, scatter, histogram and update work alike:
 *
 * - A plan is created once and run any number of times. Running a plan allocates no memory.
 *   Creating a plan is collective. With "auto", creating a plan measures for a part of a second if
 *   this machine's profile has no entry for the layout.
 * - Running a plan is collective with aggregating strategies and with "auto".
 * - No call contains a barrier. Put a barrier between calls that write an array and calls that read
 *   the array.
 * - `indices` are global indices. Each rank gives any number of them.
 * - An index out of range gives LONGSHORE_ERROR_USAGE on this rank and, with aggregating
 *   strategies, LONGSHORE_ERROR_PEER_FAILED on the other ranks. The plan can be run again.
 * - docs/reference/gather.md has the cost of n requests per rank for each strategy.
 * - ..._strategy returns the strategy of the last call; for "auto", the strategy that was chosen.
 * - Calls without a plan (longshore_gather, ...) create a plan, run the plan once and free it. */

/* Gather: out[i] = table[indices[i]] for each i below `count`. */
int longshore_gather_create(longshore_array* table, const struct longshore_gather_options* options,
                            longshore_gather_plan** plan);
int longshore_gather_free(longshore_gather_plan* plan);
int longshore_gather_run(longshore_gather_plan* plan, const int64_t* indices, int64_t count,
                         void* out);
const char* longshore_gather_strategy(const longshore_gather_plan* plan);
int longshore_gather(longshore_array* table, const int64_t* indices, int64_t count, void* out,
                     const struct longshore_gather_options* options);

/* Scatter: table[indices[i]] = values[i] for each i below `count`. If several values go to one
 * element, the element gets one of them, never a mixture. */
int longshore_scatter_create(longshore_array* table, const struct longshore_gather_options* options,
                             longshore_scatter_plan** plan);
int longshore_scatter_free(longshore_scatter_plan* plan);
int longshore_scatter_run(longshore_scatter_plan* plan, const int64_t* indices, int64_t count,
                          const void* values);
const char* longshore_scatter_strategy(const longshore_scatter_plan* plan);
int longshore_scatter(longshore_array* table, const int64_t* indices, int64_t count,
                      const void* values, const struct longshore_gather_options* options);

/* Histogram: table[indices[i]] += values[i] for each i below `count`, atomically: no addition is
 * lost if several ranks add to one element. Any type but LONGSHORE_BYTES; integers wrap around. If
 * `values` is NULL, 1 is added for each index, and no values are sent. */
int longshore_histogram_create(longshore_array* table,
                               const struct longshore_gather_options* options,
                               longshore_histogram_plan** plan);
int longshore_histogram_free(longshore_histogram_plan* plan);
int longshore_histogram_run(longshore_histogram_plan* plan, const int64_t* indices, int64_t count,
                            const void* values);
const char* longshore_histogram_strategy(const longshore_histogram_plan* plan);
int longshore_histogram(longshore_array* table, const int64_t* indices, int64_t count,
                        const void* values, const struct longshore_gather_options* options);

/* Update: table[indices[i]] = operation(table[indices[i]], values[i]) for each i below `count`,
 * atomically. `operation` is one of enum longshore_reduction; LONGSHORE_MIN stores the smallest of
 * the values and the element's previous value; arrays are initially zero. Any type but
 * LONGSHORE_BYTES; floating types have no XOR, OR and AND. LONGSHORE_MIN and LONGSHORE_MAX are not
 * defined for NaN. */
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

/* ---- sums by a function of the program ---- */

/* Halos, ghosts and boxes combine copies of values into the values of their owners, by a reduction
 * or by a function of the program. */

/* Pairs of an element and a ghost, which is a copy of it. For each i in 0 ... count-1, the element
 * of pair i is at `elements` + element_index[i] * element_stride_bytes; its ghost is at `ghosts` +
 * ghost_index[i] * ghost_stride_bytes. If a list of indices is NULL, the index is i. Several pairs
 * may have the same element. */
struct longshore_combine_batch {
  int field; /* the number of the field in the plan, from 0; also in a call for a part */
  int64_t count;
  void* elements;
  int64_t element_stride_bytes;
  const uint32_t* element_index;
  const void* ghosts;
  int64_t ghost_stride_bytes;
  const uint32_t* ghost_index;
};
/* A function that combines the pairs of a batch one after another. It changes the elements only.
 * The calls ..._accumulate_by and ..._assemble_by take the function in place of a reduction. All
 * ranks give the same function. Start, test and wait call the function once per batch. Copies are
 * combined in the same order as by a reduction. */
typedef void (*longshore_combine_function)(void* context,
                                           const struct longshore_combine_batch* batch);

/* ---- halo exchange ---- */

struct longshore_grid_options {
  int dimensions; /* 1 to 3; 0 means 3 */
  int ranks[3];   /* the number of ranks along x, y, z; if 0, the library chooses */
  /* "linear" (default): rank = x + X (y + Y z); "cart", "auto": docs/guides/placement.md */
  const char* placement;
  /* the cells of the whole domain, for which the library chooses the grid with the smallest
   * surface; if 0, the library chooses balanced factors */
  int64_t cells[3];
  /* a number for each dimension: 1 if the domain is periodic in it, 0 if it has borders. If NULL,
   * the domain is periodic in all dimensions */
  const int* periodic;
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Arranges the ranks of a team in a Cartesian grid. Collective. longshore_grid_create_cart of
 * longshore_mpi.h takes the grid of an MPI communicator instead. */
int longshore_grid_create(longshore_team* team, const struct longshore_grid_options* options,
                          longshore_grid** grid);
/* Collective. */
int longshore_grid_free(longshore_grid* grid);
/* The number of dimensions. */
int longshore_grid_dimensions(const longshore_grid* grid);
/* Stores the number of ranks along x, y, z. */
void longshore_grid_shape(const longshore_grid* grid, int shape[3]);
/* Stores the position of this rank in the grid. */
void longshore_grid_coordinates(const longshore_grid* grid, int coordinates[3]);
/* The rank at distance `step` from this rank. Each number of `step` is -1, 0 or 1. Returns -1
 * beyond a border. */
int longshore_grid_neighbour(const longshore_grid* grid, const int step[3]);
/* Divides `cells` cells among the ranks along a dimension, and stores the first cell and the number
 * of cells of this rank. With a remainder, the first ranks get one cell more. Stores 0 and 0 if the
 * dimension is not 0, 1 or 2. */
void longshore_grid_piece(const longshore_grid* grid, int dimension, int64_t cells, int64_t* first,
                          int64_t* count);

/* Allocates memory for fields of halos, ghosts and boxes that the ranks of the node can read. Plans
 * recognise the fields by their addresses. Mode and strategy "direct" do not pack these fields for
 * other processes. The memory is initially zero, and aligned to at least 64 bytes. Local. */
int longshore_memory_create(longshore_team* team, size_t bytes, longshore_memory** memory,
                            void** data);
/* Local. Free the plans for fields in the memory first. */
int longshore_memory_free(longshore_memory* memory);
/* The memory that contains the address `cell`; NULL if there is none. */
longshore_memory* longshore_memory_of(const longshore_team* team, const void* cell);

/* A block of cells with a halo around it, in memory of the program. A cell may also be a vertex, an
 * edge or a face. Set a field to zero before you set its members. */
struct longshore_field {
  void* first;          /* the interior cell (0, 0, 0) */
  int type;             /* enum longshore_type */
  size_t element_bytes; /* for LONGSHORE_BYTES; otherwise 0 */
  /* interior cells along x, y, z; 0 or 1 for a dimension that the grid does not have */
  int64_t extents[3];
  /* the distance between neighbouring cells along x, y, z, in elements; of any sign and order */
  int64_t strides[3];
  int low[3];  /* the width of the halo in memory on the low sides, in cells */
  int high[3]; /* the width of the halo in memory on the high sides, in cells */
  /* the layers along x, y, z that neighbouring blocks both have; 0 for cells. Vertices have 1, 1,
   * 1: the last layer of a block is the first layer of the next block, so n cells have n + 1
   * interior vertices. Faces across x have 1, 0, 0 */
  int shared[3];
  int items; /* how many numbers a cell has, contiguous in memory; 0 means 1 */
};

/* Describes a field that is contiguous in memory together with its halo, with x as the fastest
 * index. `cells` is the corner of the halo that comes first in memory. Cells have one number and
 * blocks share no layers. For LONGSHORE_BYTES the program must set `first` (here NULL) and
 * `element_bytes`. */
void longshore_field_dense(struct longshore_field* field, void* cells, int type,
                           const int64_t extents[3], const int low[3], const int high[3]);

/* A part of a plan of halos or boxes, for one call. No message is sent that the part does not need.
 * All ranks give the same part. The first call with each different part is collective: it makes a
 * plan of this part and keeps it. */
struct longshore_part {
  /* the numbers of the fields, from 0 in the order of the call that made the plan; NULL: all
   * fields */
  const int* fields;
  int count; /* of `fields` */
  /* at most this many halo cells on every side; if 0, `low` and `high` apply. A field with fewer
   * cells keeps its width */
  int width;
  /* the same for the low sides (x, y, z) and for the high sides; both NULL: the whole halo */
  const int* low;
  const int* high;
  int64_t reserved[4]; /* 0: room for options of later versions */
};

struct longshore_halo_options {
  /* "standard" (default), "staged", "sequenced", "staged-sequenced", "faces", "hybrid", "auto" */
  const char* algorithm;
  /* "direct" (default), "channel", and the modes that are MPI calls: docs/reference/halo.md */
  const char* mode;
  const char* reach; /* the cells that the stencil reads: "corners" (default), "edges", "faces" */
  /* the widths to exchange on the low sides (x, y, z) and on the high sides; if both are NULL, the
   * whole halo in memory */
  const int* low;
  const int* high;
  /* the tasks that copy large messages: "serial" (default), "threads", "openmp", "tbb"; static
   * programs that join a communicator link the last two by an option: docs/guides/installing.md */
  const char* tasks;
  int task_count;      /* per rank; 0 means the rank's share of the cores */
  int width;           /* the width to exchange on every side; if 0, `low` and `high` apply */
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates a plan that exchanges `count` fields together. The fields may have different types.
 * Collective: all ranks give the same options, and fields of the same kinds in the same order. The
 * memory of the fields must stay valid until the plan is freed. */
int longshore_halo_create(const longshore_grid* grid, const struct longshore_halo_options* options,
                          const struct longshore_field* fields, int count, longshore_halo** plan);
/* Collective. Returns LONGSHORE_ERROR_USAGE if an operation was started but not waited for. */
int longshore_halo_free(longshore_halo* plan);
/* Starts an exchange. Until it is complete, do not write the cells that are sent, and neither read
 * nor write the halo. */
int longshore_halo_start(longshore_halo* plan);
/* Makes progress without waiting. Stores 1 in *complete if the operation is complete, 0 if not. */
int longshore_halo_test(longshore_halo* plan, int* complete);
/* Waits until the operation is complete on this rank: the halo is filled, and the interior cells
 * may be written. */
int longshore_halo_wait(longshore_halo* plan);
/* longshore_halo_start and longshore_halo_wait. */
int longshore_halo_exchange(longshore_halo* plan);

/* Like longshore_halo_start and longshore_halo_exchange for a part of the plan. If `part` is NULL,
 * the whole plan is used. */
int longshore_halo_start_part(longshore_halo* plan, const struct longshore_part* part);
int longshore_halo_exchange_part(longshore_halo* plan, const struct longshore_part* part);

/* Combines copies of cells into the cells of their owners: cell = reduction(cell, copy). Copies are
 * halo cells and, in a shared layer, the cells of the block on the high side. Copies keep their
 * values. `reduction` is LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX or LONGSHORE_OR. All ranks
 * give the same reduction and the same part. If `part` is NULL, the whole plan is used. Copies are
 * combined one after another in the order of their ranks, so the bits of a sum do not depend on the
 * algorithm, the mode or timing. Until the operation is complete, neither read nor write the halo,
 * nor the block's own cells within a halo width of its border. The first call of this kind is
 * collective. */
int longshore_halo_start_accumulate(longshore_halo* plan, int reduction,
                                    const struct longshore_part* part);
/* Combines copies in the same way, and then gives the value of each cell to all its copies, in the
 * halo and in shared layers. So a cell has the same bits on all ranks. */
int longshore_halo_start_assemble(longshore_halo* plan, int reduction,
                                  const struct longshore_part* part);
/* Each of these calls starts an operation and waits for it. */
int longshore_halo_accumulate(longshore_halo* plan, int reduction,
                              const struct longshore_part* part);
int longshore_halo_assemble(longshore_halo* plan, int reduction, const struct longshore_part* part);
/* The same with a function of the program. */
int longshore_halo_start_accumulate_by(longshore_halo* plan, longshore_combine_function function,
                                       void* context, const struct longshore_part* part);
int longshore_halo_start_assemble_by(longshore_halo* plan, longshore_combine_function function,
                                     void* context, const struct longshore_part* part);
int longshore_halo_accumulate_by(longshore_halo* plan, longshore_combine_function function,
                                 void* context, const struct longshore_part* part);
int longshore_halo_assemble_by(longshore_halo* plan, longshore_combine_function function,
                               void* context, const struct longshore_part* part);

/* The algorithm; for "auto", the algorithm that was chosen. */
const char* longshore_halo_algorithm(const longshore_halo* plan);
/* The number of dependent rounds that move cells between ranks in an exchange. */
int longshore_halo_rounds(const longshore_halo* plan);

/* The traffic of one rank in one operation. */
struct longshore_traffic {
  int64_t messages;      /* to other ranks, without copies by loads and stores */
  int64_t payload_bytes; /* the cells to exchange, also from this rank to itself */
  int64_t wire_bytes;    /* the bytes in the messages */
  int64_t offnode_bytes; /* the part of wire_bytes that goes to other nodes */
};
/* Stores in *moved the traffic of this rank in one exchange. */
void longshore_halo_moved(const longshore_halo* plan, struct longshore_traffic* moved);
/* Stores in *moved the traffic of this rank in one call of `operation`: "exchange" (the default,
 * for NULL), "accumulate" or "assemble". The traffic of accumulate and of assemble is 0 before the
 * first such call. */
int longshore_halo_moved_in(const longshore_halo* plan, const char* operation,
                            struct longshore_traffic* moved);

/* ---- ghost exchange ---- */

/* Exchanges of any shape, for meshes, sparse matrices and graphs: docs/guides/unstructured-mesh.md.
 * A rank owns elements, numbered from 0, and has ghosts: copies of elements that other ranks own.
 *
 * - A graph says which rank needs which elements of which rank. A rank lists its ghosts in any
 *   order. A ghost may be listed twice, and may be an element of the rank itself. Ranks may own
 *   nothing and need nothing.
 * - A plan exchanges one or several fields, which have an element for each owned element and for
 *   each ghost of a graph. Several plans may use one graph, which may be freed before its plans.
 *
 * If a rank gives wrong elements (a rank that does not exist, an index beyond the table, an element
 * owned twice), all ranks get LONGSHORE_ERROR_USAGE, and the message names the rank and the index.
 * docs/reference/ghost.md has the strategies and their costs. */

/* Creates a graph. `owned`: the number of elements of this rank. `ghosts`: `count` global indices,
 * which number the elements of rank 0 first, then those of rank 1, and so on. Collective. */
int longshore_ghost_graph_create(longshore_team* team, int64_t owned, const int64_t* ghosts,
                                 int64_t count, longshore_ghost_graph** graph);
/* The same for global indices that the program has chosen: ids[i] is the index of this rank's
 * element i, any number that is not negative. A directory that is distributed over the ranks finds
 * the owners of the ghosts. Collective. */
int longshore_ghost_graph_create_ids(longshore_team* team, const int64_t* ids, int64_t owned,
                                     const int64_t* ghosts, int64_t count,
                                     longshore_ghost_graph** graph);
/* The same for ghosts whose owners the program knows: rank ranks[i] owns the element with index
 * ghosts[i]. The ranks ask the owners where the elements are. Indices need to be unique only within
 * a rank. Collective. */
int longshore_ghost_graph_create_owners(longshore_team* team, const int64_t* ids, int64_t owned,
                                        const int* ranks, const int64_t* ghosts, int64_t count,
                                        longshore_ghost_graph** graph);
/* The same for owners and elements that the program knows: ghost i is element elements[i] of rank
 * ranks[i]. Collective. */
int longshore_ghost_graph_create_pairs(longshore_team* team, int64_t owned, const int* ranks,
                                       const int64_t* elements, int64_t count,
                                       longshore_ghost_graph** graph);
/* Creates a graph with other ghosts for the owned elements of `graph`. Cheap when few ghosts
 * change. The ghosts are given in the form in which those of `graph` were given: global indices,
 * global indices and owners, or ranks and elements. Collective. */
int longshore_ghost_graph_remake(const longshore_ghost_graph* graph, const int64_t* ghosts,
                                 int64_t count, longshore_ghost_graph** remade);
int longshore_ghost_graph_remake_owners(const longshore_ghost_graph* graph, const int* ranks,
                                        const int64_t* ghosts, int64_t count,
                                        longshore_ghost_graph** remade);
int longshore_ghost_graph_remake_pairs(const longshore_ghost_graph* graph, const int* ranks,
                                       const int64_t* elements, int64_t count,
                                       longshore_ghost_graph** remade);
/* Makes another handle for the same graph, for code that keeps a graph which other code frees. Free
 * both handles. Local. */
int longshore_ghost_graph_copy(const longshore_ghost_graph* graph, longshore_ghost_graph** copy);
/* Collective. */
int longshore_ghost_graph_free(longshore_ghost_graph* graph);
/* The number of elements that this rank owns, and the number of its ghosts. */
int64_t longshore_ghost_graph_owned(const longshore_ghost_graph* graph);
int64_t longshore_ghost_graph_ghosts(const longshore_ghost_graph* graph);
/* Stores the owner of ghost i in ranks[i], and its element there in elements[i], for all ghosts of
 * this rank. Either array may be NULL. Local. */
int longshore_ghost_graph_locations(const longshore_ghost_graph* graph, int* ranks,
                                    int64_t* elements);
/* The other ranks that own ghosts of this rank, and those that have ghosts of this rank's elements,
 * in ascending order. Stores their number in *count. The memory belongs to the graph. */
const int* longshore_ghost_graph_owners(const longshore_ghost_graph* graph, int* count);
const int* longshore_ghost_graph_readers(const longshore_ghost_graph* graph, int* count);
/* The elements of this rank that are ghosts on rank `reader`, in the order of that rank's ghosts.
 * Stores their number in *count, and the elements in `elements` unless it is NULL. Local. */
int longshore_ghost_graph_needed_by(const longshore_ghost_graph* graph, int reader,
                                    int64_t* elements, int64_t* count);
/* The memory of the graph on this rank. */
int64_t longshore_ghost_graph_memory_bytes(const longshore_ghost_graph* graph);

/* A field, in memory of the program. Neighbours on a node read memory of longshore_memory_create
 * directly; other memory of processes is packed. */
struct longshore_ghost_field {
  void* owned;          /* the first owned element; NULL if this rank owns no element */
  void* ghosts;         /* the first ghost; NULL if this rank has no ghosts */
  int type;             /* enum longshore_type */
  int items;            /* how many numbers an element has, contiguous; 0 means 1 */
  size_t element_bytes; /* for LONGSHORE_BYTES; otherwise 0 */
  /* the distance between elements, and between ghosts, in bytes, of any sign; if 0, the elements
   * are contiguous */
  int64_t owned_stride_bytes;
  int64_t ghost_stride_bytes;
  /* NULL, or the places of elements and ghosts: element i is owned_places[i] distances after
   * `owned`, and ghost k is ghost_places[k] distances after `ghosts`. If one array has both,
   * `owned` and `ghosts` point to the first element of this array. Calls copy the places. Such
   * fields are packed */
  const int64_t* owned_places;
  const int64_t* ghost_places;
};

struct longshore_ghost_options {
  /* "direct" (default), "standard", "node-aware-2", "node-aware", "mpi-waitall",
   * "mpi-persistent", "mpi-neighbor", "auto" */
  const char* strategy;
  int updates;         /* -1: the plan makes no updates. Takes less memory */
  int accumulates;     /* -1: the plan accumulates nothing. Takes less memory */
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates a plan that exchanges `count` fields together. The fields may have different types.
 * Collective: all ranks give the same options, and fields of the same kinds in the same order. The
 * memory of the fields must stay valid until the plan is freed or bound to other memory. With
 * `count` 0 the plan has no memory: bind it to fields before its first operation. */
int longshore_ghost_create(const longshore_ghost_graph* graph,
                           const struct longshore_ghost_options* options,
                           const struct longshore_ghost_field* fields, int count,
                           longshore_ghost** plan);
/* Collective. Returns LONGSHORE_ERROR_USAGE if an operation was started but not waited for. */
int longshore_ghost_free(longshore_ghost* plan);
/* Changes the plan to another graph, and to `count` fields in other memory. If `fields` is NULL,
 * the fields keep their addresses and must have room for the ghosts of the new graph.
 * Collective. */
int longshore_ghost_remake(longshore_ghost* plan, const longshore_ghost_graph* graph,
                           const struct longshore_ghost_field* fields, int count);
/* Binds the plan to other memory: `count` fields with the types and places (owned_places,
 * ghost_places) with which the plan was made. Local: each rank may call when its memory moves. If
 * the plan has no memory yet, the call is collective and makes the plan. Returns
 * LONGSHORE_ERROR_USAGE for other types or places, if an operation was started but not waited for,
 * and if neighbours read the memory of the plan and cannot read the new memory. */
int longshore_ghost_rebind(longshore_ghost* plan, const struct longshore_ghost_field* fields,
                           int count);

/* Copies the elements of all ranks to their ghosts. Until the operation is complete, do not write
 * owned elements, and neither read nor write ghosts. */
int longshore_ghost_start_update(longshore_ghost* plan);
/* Combines each element with all its ghosts: element = reduction(element, ghost). `reduction` is
 * LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX or LONGSHORE_OR, the same on all ranks. Ghosts are
 * combined one after another in the order of their ranks, so the bits of a sum do not depend on the
 * strategy or timing. Ghosts keep their values. Until the operation is complete, do not write
 * ghosts, and neither read nor write owned elements. */
int longshore_ghost_start_accumulate(longshore_ghost* plan, int reduction);
/* An accumulate, and then an update: each element and all its ghosts get the same value, bit by
 * bit. Until the operation is complete, neither read nor write elements and ghosts. */
int longshore_ghost_start_assemble(longshore_ghost* plan, int reduction);

/* Makes progress without waiting. Stores 1 in *complete if the operation is complete, 0 if not. */
int longshore_ghost_test(longshore_ghost* plan, int* complete);
/* Waits until the operation is complete on this rank, and its memory may be used again. */
int longshore_ghost_wait(longshore_ghost* plan);
/* Each of these calls starts an operation and waits for it. */
int longshore_ghost_update(longshore_ghost* plan);
int longshore_ghost_accumulate(longshore_ghost* plan, int reduction);
int longshore_ghost_assemble(longshore_ghost* plan, int reduction);
/* The same with a function of the program. */
int longshore_ghost_start_accumulate_by(longshore_ghost* plan, longshore_combine_function function,
                                        void* context);
int longshore_ghost_start_assemble_by(longshore_ghost* plan, longshore_combine_function function,
                                      void* context);
int longshore_ghost_accumulate_by(longshore_ghost* plan, longshore_combine_function function,
                                  void* context);
int longshore_ghost_assemble_by(longshore_ghost* plan, longshore_combine_function function,
                                void* context);

/* The strategy; for "auto", the strategy that was chosen. */
const char* longshore_ghost_strategy(const longshore_ghost* plan);
/* The number of other ranks with which this rank exchanges messages, or whose memory it reads. */
int longshore_ghost_neighbours(const longshore_ghost* plan);
/* The memory of the plan on this rank, without the graph and the fields. */
int64_t longshore_ghost_memory_bytes(const longshore_ghost* plan);
/* Stores in *moved the traffic of this rank in one call of `operation`: "update" (the default, for
 * NULL) or "accumulate". */
int longshore_ghost_moved(const longshore_ghost* plan, const char* operation,
                          struct longshore_traffic* moved);

/* ---- boxes ---- */

/* Halos of any number of boxes per rank, of any sizes, anywhere in an index space: for adaptive
 * meshes, load balance, and domains that are not blocks. Ranks may have no box. A layout says which
 * rank has which boxes. Box exchanges fill and combine halos, box copies copy fields between two
 * layouts. A layout may be freed before its plans. */

/* The cells with first[d] <= index < first[d] + cells[d] along x, y, z. Unused dimensions have one
 * cell, at the same index in all boxes. */
struct longshore_box {
  int64_t first[3];
  int64_t cells[3];
};

/* Cells outside of all boxes that are copies of cells elsewhere, with turned axes: faces of a cubed
 * sphere, or the fold of a tripolar grid. Such a cell c is a copy of cell o: for each dimension d,
 * o[axis[d]] = sign[d] * c[d] + offset[d]. */
struct longshore_glued_cells {
  int64_t first[3]; /* the cells outside of all boxes */
  int64_t cells[3];
  int axis[3]; /* 0, 1 and 2, each once */
  int sign[3]; /* 1 or -1 */
  int64_t offset[3];
};

struct longshore_boxes_options {
  /* the whole domain, as in struct longshore_box. Only its periodic dimensions are used */
  int64_t domain_first[3];
  int64_t domain_cells[3];
  int periodic[3]; /* 1 if the domain is periodic along x, y, z */
  const struct longshore_glued_cells* glued;
  int glued_count;     /* of `glued` */
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates a layout from the `count` boxes of this rank, 0 or more. Boxes are numbered from 0 in the
 * order of ranks, and on each rank in the order of `mine`. Collective: all ranks give the same
 * options. All ranks get LONGSHORE_ERROR_USAGE if boxes overlap, a box has no cells, a box lies
 * outside of the domain along a periodic dimension, or glued cells lie in a box. Every rank keeps
 * about 150 bytes for each box of all ranks. */
int longshore_boxes_create(longshore_team* team, const struct longshore_box* mine, int count,
                           const struct longshore_boxes_options* options, longshore_boxes** boxes);
/* Collective. */
int longshore_boxes_free(longshore_boxes* boxes);
/* The number of boxes of this rank, and of all ranks. */
int longshore_boxes_count(const longshore_boxes* boxes);
int longshore_boxes_total(const longshore_boxes* boxes);
/* The number of the first box of a rank; -1 if there is no such rank. The other boxes of the rank
 * have the next numbers. */
int longshore_boxes_first(const longshore_boxes* boxes, int rank);
/* The rank that has a box; -1 if there is no such box. */
int longshore_boxes_owner(const longshore_boxes* boxes, int box);
/* Stores the cells of a box of any rank. Local. */
int longshore_boxes_get(const longshore_boxes* boxes, int box, struct longshore_box* found);

/* A field on the boxes of a layout. All members but `boxes` and `count` are the same on all ranks.
 * Set a field to zero before you set its members. */
struct longshore_box_field {
  /* a block for each box of this rank, with the extents of the box plus `shared`, the same elements
   * as this field, and memory for a halo of at least `low` and `high`. The member `shared` of a
   * block is ignored */
  const struct longshore_field* boxes;
  int count;            /* of `boxes` */
  int type;             /* enum longshore_type */
  size_t element_bytes; /* for LONGSHORE_BYTES; otherwise 0 */
  int items;            /* how many numbers a cell has; 0 means 1 */
  int low[3];           /* the halo to fill, on the low sides (x, y, z) */
  int high[3];          /* and on the high sides */
  /* the layers that neighbouring boxes both have: 0 for cells, 1, 1, 1 for vertices. n cells have
   * n + 1 vertices */
  int shared[3];
};

struct longshore_box_exchange_options {
  const char* mode;    /* "direct" (default) or "channel" */
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates a plan that exchanges `count` fields together. The fields may have different types,
 * widths and shared layers. Collective. The memory of the fields must stay valid until the plan is
 * freed; the descriptions need not. */
int longshore_box_exchange_create(const longshore_boxes* boxes,
                                  const struct longshore_box_exchange_options* options,
                                  const struct longshore_box_field* fields, int count,
                                  longshore_box_exchange** plan);
/* Collective. Returns LONGSHORE_ERROR_USAGE if an operation was started but not waited for. */
int longshore_box_exchange_free(longshore_box_exchange* plan);
/* Copies cells to the halos of other boxes. Shared layers, and halo cells that no box owns, do not
 * change. Until the operation is complete, neither read nor write halos, and do not write cells
 * within a halo width of a border of their box. */
int longshore_box_exchange_start_update(longshore_box_exchange* plan);
/* The same for a part of the plan. If `part` is NULL, the whole plan is used. */
int longshore_box_exchange_start_update_part(longshore_box_exchange* plan,
                                             const struct longshore_part* part);
/* Combines the copies of each cell into the owner's cell: cell = reduction(cell, copy). Copies lie
 * in halos and in shared layers, whose owner is the box with the lowest number. Copies keep their
 * values. `reduction` is LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX or LONGSHORE_OR. All ranks
 * give the same reduction and the same part. If `part` is NULL, the whole plan is used. Copies are
 * combined in the order of their boxes, so the bits of a sum do not depend on the mode or timing.
 * The first accumulate or assemble is collective. */
int longshore_box_exchange_start_accumulate(longshore_box_exchange* plan, int reduction,
                                            const struct longshore_part* part);
/* An accumulate, and then an update of all copies, in halos and in shared layers. So a cell has the
 * same bits everywhere. */
int longshore_box_exchange_start_assemble(longshore_box_exchange* plan, int reduction,
                                          const struct longshore_part* part);
/* Makes progress without waiting. Stores 1 in *complete if the operation is complete, 0 if not. */
int longshore_box_exchange_test(longshore_box_exchange* plan, int* complete);
/* Waits until the operation is complete on this rank. */
int longshore_box_exchange_wait(longshore_box_exchange* plan);
/* Each of these calls starts an operation and waits for it. */
int longshore_box_exchange_update(longshore_box_exchange* plan);
int longshore_box_exchange_update_part(longshore_box_exchange* plan,
                                       const struct longshore_part* part);
int longshore_box_exchange_accumulate(longshore_box_exchange* plan, int reduction,
                                      const struct longshore_part* part);
int longshore_box_exchange_assemble(longshore_box_exchange* plan, int reduction,
                                    const struct longshore_part* part);
/* The same with a function of the program. */
int longshore_box_exchange_start_accumulate_by(longshore_box_exchange* plan,
                                               longshore_combine_function function, void* context,
                                               const struct longshore_part* part);
int longshore_box_exchange_start_assemble_by(longshore_box_exchange* plan,
                                             longshore_combine_function function, void* context,
                                             const struct longshore_part* part);
int longshore_box_exchange_accumulate_by(longshore_box_exchange* plan,
                                         longshore_combine_function function, void* context,
                                         const struct longshore_part* part);
int longshore_box_exchange_assemble_by(longshore_box_exchange* plan,
                                       longshore_combine_function function, void* context,
                                       const struct longshore_part* part);
/* The number of other ranks with which this rank exchanges messages, or whose memory it reads. */
int longshore_box_exchange_neighbours(const longshore_box_exchange* plan);
/* The memory of the plan and its parts on this rank, without the layout and the fields. */
int64_t longshore_box_exchange_memory_bytes(const longshore_box_exchange* plan);
/* Stores in *moved the traffic of this rank in one call of `operation`: "update" (the default, for
 * NULL), "accumulate" or "assemble". The traffic of accumulate and of assemble is 0 before the
 * first such call. */
int longshore_box_exchange_moved(const longshore_box_exchange* plan, const char* operation,
                                 struct longshore_traffic* moved);

struct longshore_box_copy_options {
  const char* mode;    /* "direct" (default) or "channel" */
  int fills_halos;     /* 1: halo cells of the target are filled, too */
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates a plan that copies field i of `from_fields` to field i of `to_fields`, which has the same
 * elements and shares the same layers. Cells of the target that the source lacks do not change.
 * Both layouts are of one team. Collective. The memory of the two fields must not overlap, and must
 * stay valid until the plan is freed. */
int longshore_box_copy_create(const longshore_boxes* from,
                              const struct longshore_box_field* from_fields,
                              const longshore_boxes* to,
                              const struct longshore_box_field* to_fields, int count,
                              const struct longshore_box_copy_options* options,
                              longshore_box_copy** plan);
/* Collective. Returns LONGSHORE_ERROR_USAGE if an operation was started but not waited for. */
int longshore_box_copy_free(longshore_box_copy* plan);
/* Starts to copy. Until the copy is complete, do not write the source, and neither read nor write
 * the target. */
int longshore_box_copy_start(longshore_box_copy* plan);
/* Makes progress without waiting. Stores 1 in *complete if the copy is complete, 0 if not. */
int longshore_box_copy_test(longshore_box_copy* plan, int* complete);
/* Waits until the copy is complete on this rank. */
int longshore_box_copy_wait(longshore_box_copy* plan);
/* longshore_box_copy_start and longshore_box_copy_wait. */
int longshore_box_copy_run(longshore_box_copy* plan);
/* Stores in *moved the traffic of this rank in one copy. */
void longshore_box_copy_moved(const longshore_box_copy* plan, struct longshore_traffic* moved);

/* ---- streams of a device ---- */

/* For halos, ghosts and boxes with fields in device memory: docs/guides/devices.md. A stream is a
 * handle such as a cudaStream_t. NULL is the default stream of the device that the calling thread
 * has chosen.
 *
 * - A call ..._start..._on begins the operation of the call without _on. Cells are read and written
 *   after the work that the stream has now; without a stream, they are complete when the call
 *   begins. If `part` is NULL, the whole plan is used.
 * - A call ..._wait_on returns when all messages of this rank have arrived. Work that is then
 *   appended to the stream begins after the operation. Without a stream, the operation is complete
 *   when ..._wait returns, whatever call began it.
 * - A stream of another device, and a stream for fields of the host, give LONGSHORE_ERROR_USAGE. */
int longshore_halo_start_on(longshore_halo* plan, const struct longshore_part* part, void* stream);
int longshore_halo_start_accumulate_on(longshore_halo* plan, int reduction,
                                       const struct longshore_part* part, void* stream);
int longshore_halo_start_assemble_on(longshore_halo* plan, int reduction,
                                     const struct longshore_part* part, void* stream);
int longshore_halo_wait_on(longshore_halo* plan, void* stream);
int longshore_ghost_start_update_on(longshore_ghost* plan, void* stream);
int longshore_ghost_start_accumulate_on(longshore_ghost* plan, int reduction, void* stream);
int longshore_ghost_start_assemble_on(longshore_ghost* plan, int reduction, void* stream);
int longshore_ghost_wait_on(longshore_ghost* plan, void* stream);
int longshore_box_exchange_start_update_on(longshore_box_exchange* plan,
                                           const struct longshore_part* part, void* stream);
int longshore_box_exchange_start_accumulate_on(longshore_box_exchange* plan, int reduction,
                                               const struct longshore_part* part, void* stream);
int longshore_box_exchange_start_assemble_on(longshore_box_exchange* plan, int reduction,
                                             const struct longshore_part* part, void* stream);
int longshore_box_exchange_wait_on(longshore_box_exchange* plan, void* stream);
int longshore_box_copy_start_on(longshore_box_copy* plan, void* stream);
int longshore_box_copy_wait_on(longshore_box_copy* plan, void* stream);

/* ---- sorting ---- */

struct longshore_sort_options {
  /* "auto" (default), "put", "put-scan", "direct", "sendrecv", "alltoallv", "rma", "channel",
   * "two-hop" */
  const char* exchange;
  /* "round-robin" (default), "random", "random-private", "xor", "incast", "node-aware" */
  const char* order;
  int64_t max_key;   /* integer keys are from 0 to max_key - 1; if 0, the sort finds the range */
  int stable;        /* if 1, equal keys keep the order of (rank, position) of the input */
  const char* tasks; /* "serial" (default), "threads", "openmp", "tbb" */
  int task_count;    /* per rank; 0 means the rank's share of the cores */
  /* "equal-width" (default): the range of keys is divided into parts of equal width; "sampled": a
   * sample of the keys divides their range, for keys that are not evenly spread */
  const char* splitters;
  int together; /* if 1, with splitters "sampled": all equal keys come to one rank */
  int64_t seed; /* of random orders and of samples; 0 means 122222 */
  /* if 1, a barrier stands before the exchange, so that its time excludes waiting for late ranks */
  int barrier_before_exchange;
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates a sorter, which sorts keys over all ranks any number of times and keeps its buffers.
 * `key_type`: any type but LONGSHORE_BYTES. Floating keys are ordered by their bits, with -0.0
 * below 0.0. Each key may have a payload of `payload_bytes` bytes, 0 to 56. Collective. */
int longshore_sorter_create(longshore_team* team, int key_type, size_t payload_bytes,
                            const struct longshore_sort_options* options,
                            longshore_sorter** sorter);
/* Collective. */
int longshore_sorter_free(longshore_sorter* sorter);
/* Sorts the keys of all ranks. Each rank gives any number of keys; `payloads` may be NULL only if
 * keys have no payload. Stores the number of keys in this rank's part of the result in *received.
 * No key of a rank is above a key of a later rank. Collective. A key outside of the range of
 * max_key gives LONGSHORE_ERROR_USAGE on this rank and LONGSHORE_ERROR_PEER_FAILED on the other
 * ranks; the sorter can be run again. */
int longshore_sorter_run(longshore_sorter* sorter, const void* keys, const void* payloads,
                         int64_t count, int64_t* received);
/* Copies this rank's part of the last result, ascending by key: as many keys as the run received,
 * and their payloads unless `payloads` is NULL. Local. */
int longshore_sorter_result(const longshore_sorter* sorter, void* keys, void* payloads);
/* The exchange of the last run; for "auto", the exchange that was chosen. */
const char* longshore_sorter_exchange(const longshore_sorter* sorter);

/* ---- STREAM ---- */

struct longshore_stream_options {
  const char* kernel; /* "triad" (default), "copy", "scale", "add" */
  /* the memory policy: "malloc" (default), "calloc", "huge", "interleave", ...:
   * docs/reference/stream.md */
  const char* memory;
  const char* tasks;  /* "serial" (default), "threads", "openmp", "tbb" */
  int task_count;     /* per rank; 0 means the rank's share of the cores */
  const char* stores; /* "ordinary" (default); "streaming": the stores bypass the caches */
  /* the tasks that write the pages first: "auto" (default: what a measurement favours), "serial",
   * "parallel" */
  const char* first_touch;
  int64_t reserved[4]; /* 0: room for options of later versions */
};

/* Creates three arrays of `elements` elements on this rank, of type LONGSHORE_FLOAT32 or
 * LONGSHORE_FLOAT64. All calls of a stream are local. */
int longshore_stream_create(longshore_team* team, int type, int64_t elements,
                            const struct longshore_stream_options* options,
                            longshore_stream** stream);
int longshore_stream_free(longshore_stream* stream);
/* Runs the kernel once over all elements. */
int longshore_stream_run(longshore_stream* stream);
/* The bytes that one run counts by the rule of STREAM. */
int64_t longshore_stream_bytes(const longshore_stream* stream);
/* The number of elements that differ from the expected result of all runs so far. */
int64_t longshore_stream_wrong(longshore_stream* stream);

#ifdef __cplusplus
}
#endif

#endif
