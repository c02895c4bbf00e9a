/* Repeats the binary interface of the C library. This file compiles only if longshore.h declares
 * the same functions, structs and numbers. Within a major version of Longshore, lines are added and
 * none is changed, so programs that were compiled with an older header keep working. A new option
 * takes the place of a reserved number. The file is never run. longshore_c.symbols lists the
 * exported names. */
#include "longshore.h"

#include <stddef.h>

/* A redeclaration of another type is an error. */
typedef int (*longshore_main)(longshore_team*, void*);
typedef void (*longshore_combine_function)(void*, const struct longshore_combine_batch*);
const char* longshore_version(void);
const char* longshore_error_message(void);
int longshore_fail(int, const char*);
void longshore_end(int);
const char* longshore_error_name(int);
size_t longshore_type_bytes(int);
int longshore_run(int, char**, longshore_main, void*);
int longshore_finalize(longshore_team*);
int longshore_team_rank(const longshore_team*);
int longshore_team_size(const longshore_team*);
int longshore_team_nodes(const longshore_team*);
const char* longshore_team_transport(const longshore_team*);
double longshore_team_seconds(const longshore_team*);
int longshore_barrier(longshore_team*);
int longshore_broadcast(longshore_team*, void*, size_t, int);
int longshore_allreduce(longshore_team*, void*, int64_t, int, int);
int longshore_reduce(longshore_team*, void*, int64_t, int, int, int);
int longshore_allgather(longshore_team*, const void*, size_t, void*);
int longshore_alltoall(longshore_team*, const void*, size_t, void*);
int longshore_array_create(longshore_team*, int, size_t, int64_t, const char*, longshore_array**);
int longshore_array_create_block_cyclic(longshore_team*, int, size_t, int64_t, int64_t,
                                        longshore_array**);
int longshore_array_free(longshore_array*);
int64_t longshore_array_size(const longshore_array*);
void* longshore_array_local(longshore_array*);
int64_t longshore_array_local_size(const longshore_array*);
int64_t longshore_array_index(const longshore_array*, int64_t);
int longshore_array_owner(const longshore_array*, int64_t, int64_t*);
int longshore_gather_create(longshore_array*, const struct longshore_gather_options*,
                            longshore_gather_plan**);
int longshore_gather_free(longshore_gather_plan*);
int longshore_gather_run(longshore_gather_plan*, const int64_t*, int64_t, void*);
const char* longshore_gather_strategy(const longshore_gather_plan*);
int longshore_gather(longshore_array*, const int64_t*, int64_t, void*,
                     const struct longshore_gather_options*);
int longshore_scatter_create(longshore_array*, const struct longshore_gather_options*,
                             longshore_scatter_plan**);
int longshore_scatter_free(longshore_scatter_plan*);
int longshore_scatter_run(longshore_scatter_plan*, const int64_t*, int64_t, const void*);
const char* longshore_scatter_strategy(const longshore_scatter_plan*);
int longshore_scatter(longshore_array*, const int64_t*, int64_t, const void*,
                      const struct longshore_gather_options*);
int longshore_histogram_create(longshore_array*, const struct longshore_gather_options*,
                               longshore_histogram_plan**);
int longshore_histogram_free(longshore_histogram_plan*);
int longshore_histogram_run(longshore_histogram_plan*, const int64_t*, int64_t, const void*);
const char* longshore_histogram_strategy(const longshore_histogram_plan*);
int longshore_histogram(longshore_array*, const int64_t*, int64_t, const void*,
                        const struct longshore_gather_options*);
int longshore_update_create(longshore_array*, int, const struct longshore_gather_options*,
                            longshore_update_plan**);
int longshore_update_free(longshore_update_plan*);
int longshore_update_run(longshore_update_plan*, const int64_t*, int64_t, const void*);
const char* longshore_update_strategy(const longshore_update_plan*);
int longshore_update(longshore_array*, const int64_t*, int64_t, const void*, int,
                     const struct longshore_gather_options*);
int longshore_grid_create(longshore_team*, const struct longshore_grid_options*, longshore_grid**);
int longshore_grid_free(longshore_grid*);
int longshore_grid_dimensions(const longshore_grid*);
void longshore_grid_shape(const longshore_grid*, int[3]);
void longshore_grid_coordinates(const longshore_grid*, int[3]);
int longshore_grid_neighbour(const longshore_grid*, const int[3]);
void longshore_grid_piece(const longshore_grid*, int, int64_t, int64_t*, int64_t*);
int longshore_memory_create(longshore_team*, size_t, longshore_memory**, void**);
int longshore_memory_free(longshore_memory*);
longshore_memory* longshore_memory_of(const longshore_team*, const void*);
void longshore_field_dense(struct longshore_field*, void*, int, const int64_t[3], const int[3],
                           const int[3]);
int longshore_halo_create(const longshore_grid*, const struct longshore_halo_options*,
                          const struct longshore_field*, int, longshore_halo**);
int longshore_halo_free(longshore_halo*);
int longshore_halo_start(longshore_halo*);
int longshore_halo_test(longshore_halo*, int*);
int longshore_halo_wait(longshore_halo*);
int longshore_halo_exchange(longshore_halo*);
int longshore_halo_start_part(longshore_halo*, const struct longshore_part*);
int longshore_halo_exchange_part(longshore_halo*, const struct longshore_part*);
int longshore_halo_start_accumulate(longshore_halo*, int, const struct longshore_part*);
int longshore_halo_start_assemble(longshore_halo*, int, const struct longshore_part*);
int longshore_halo_accumulate(longshore_halo*, int, const struct longshore_part*);
int longshore_halo_assemble(longshore_halo*, int, const struct longshore_part*);
int longshore_halo_start_accumulate_by(longshore_halo*, longshore_combine_function, void*,
                                       const struct longshore_part*);
int longshore_halo_start_assemble_by(longshore_halo*, longshore_combine_function, void*,
                                     const struct longshore_part*);
int longshore_halo_accumulate_by(longshore_halo*, longshore_combine_function, void*,
                                 const struct longshore_part*);
int longshore_halo_assemble_by(longshore_halo*, longshore_combine_function, void*,
                               const struct longshore_part*);
const char* longshore_halo_algorithm(const longshore_halo*);
int longshore_halo_rounds(const longshore_halo*);
void longshore_halo_moved(const longshore_halo*, struct longshore_traffic*);
int longshore_halo_moved_in(const longshore_halo*, const char*, struct longshore_traffic*);
int longshore_ghost_graph_create(longshore_team*, int64_t, const int64_t*, int64_t,
                                 longshore_ghost_graph**);
int longshore_ghost_graph_create_ids(longshore_team*, const int64_t*, int64_t, const int64_t*,
                                     int64_t, longshore_ghost_graph**);
int longshore_ghost_graph_create_pairs(longshore_team*, int64_t, const int*, const int64_t*,
                                       int64_t, longshore_ghost_graph**);
int longshore_ghost_graph_create_owners(longshore_team*, const int64_t*, int64_t, const int*,
                                        const int64_t*, int64_t, longshore_ghost_graph**);
int longshore_ghost_graph_remake(const longshore_ghost_graph*, const int64_t*, int64_t,
                                 longshore_ghost_graph**);
int longshore_ghost_graph_remake_owners(const longshore_ghost_graph*, const int*, const int64_t*,
                                        int64_t, longshore_ghost_graph**);
int longshore_ghost_graph_locations(const longshore_ghost_graph*, int*, int64_t*);
int longshore_ghost_graph_remake_pairs(const longshore_ghost_graph*, const int*, const int64_t*,
                                       int64_t, longshore_ghost_graph**);
int longshore_ghost_graph_copy(const longshore_ghost_graph*, longshore_ghost_graph**);
int longshore_ghost_graph_free(longshore_ghost_graph*);
int64_t longshore_ghost_graph_owned(const longshore_ghost_graph*);
int64_t longshore_ghost_graph_ghosts(const longshore_ghost_graph*);
const int* longshore_ghost_graph_owners(const longshore_ghost_graph*, int*);
const int* longshore_ghost_graph_readers(const longshore_ghost_graph*, int*);
int longshore_ghost_graph_needed_by(const longshore_ghost_graph*, int, int64_t*, int64_t*);
int64_t longshore_ghost_graph_memory_bytes(const longshore_ghost_graph*);
int longshore_ghost_create(const longshore_ghost_graph*, const struct longshore_ghost_options*,
                           const struct longshore_ghost_field*, int, longshore_ghost**);
int longshore_ghost_free(longshore_ghost*);
int longshore_ghost_remake(longshore_ghost*, const longshore_ghost_graph*,
                           const struct longshore_ghost_field*, int);
int longshore_ghost_rebind(longshore_ghost*, const struct longshore_ghost_field*, int);
int longshore_ghost_start_update(longshore_ghost*);
int longshore_ghost_start_accumulate(longshore_ghost*, int);
int longshore_ghost_start_assemble(longshore_ghost*, int);
int longshore_ghost_start_accumulate_by(longshore_ghost*, longshore_combine_function, void*);
int longshore_ghost_test(longshore_ghost*, int*);
int longshore_ghost_wait(longshore_ghost*);
int longshore_ghost_update(longshore_ghost*);
int longshore_ghost_accumulate(longshore_ghost*, int);
int longshore_ghost_assemble(longshore_ghost*, int);
int longshore_ghost_accumulate_by(longshore_ghost*, longshore_combine_function, void*);
int longshore_ghost_start_assemble_by(longshore_ghost*, longshore_combine_function, void*);
int longshore_ghost_assemble_by(longshore_ghost*, longshore_combine_function, void*);
const char* longshore_ghost_strategy(const longshore_ghost*);
int longshore_ghost_neighbours(const longshore_ghost*);
int64_t longshore_ghost_memory_bytes(const longshore_ghost*);
int longshore_ghost_moved(const longshore_ghost*, const char*, struct longshore_traffic*);
int longshore_boxes_create(longshore_team*, const struct longshore_box*, int,
                           const struct longshore_boxes_options*, longshore_boxes**);
int longshore_boxes_free(longshore_boxes*);
int longshore_boxes_count(const longshore_boxes*);
int longshore_boxes_total(const longshore_boxes*);
int longshore_boxes_first(const longshore_boxes*, int);
int longshore_boxes_owner(const longshore_boxes*, int);
int longshore_boxes_get(const longshore_boxes*, int, struct longshore_box*);
int longshore_box_exchange_create(const longshore_boxes*,
                                  const struct longshore_box_exchange_options*,
                                  const struct longshore_box_field*, int, longshore_box_exchange**);
int longshore_box_exchange_free(longshore_box_exchange*);
int longshore_box_exchange_start_update(longshore_box_exchange*);
int longshore_box_exchange_start_update_part(longshore_box_exchange*, const struct longshore_part*);
int longshore_box_exchange_start_accumulate(longshore_box_exchange*, int,
                                            const struct longshore_part*);
int longshore_box_exchange_start_assemble(longshore_box_exchange*, int,
                                          const struct longshore_part*);
int longshore_box_exchange_test(longshore_box_exchange*, int*);
int longshore_box_exchange_wait(longshore_box_exchange*);
int longshore_box_exchange_update(longshore_box_exchange*);
int longshore_box_exchange_update_part(longshore_box_exchange*, const struct longshore_part*);
int longshore_box_exchange_accumulate(longshore_box_exchange*, int, const struct longshore_part*);
int longshore_box_exchange_assemble(longshore_box_exchange*, int, const struct longshore_part*);
int longshore_box_exchange_start_accumulate_by(longshore_box_exchange*, longshore_combine_function,
                                               void*, const struct longshore_part*);
int longshore_box_exchange_start_assemble_by(longshore_box_exchange*, longshore_combine_function,
                                             void*, const struct longshore_part*);
int longshore_box_exchange_accumulate_by(longshore_box_exchange*, longshore_combine_function, void*,
                                         const struct longshore_part*);
int longshore_box_exchange_assemble_by(longshore_box_exchange*, longshore_combine_function, void*,
                                       const struct longshore_part*);
int longshore_box_exchange_neighbours(const longshore_box_exchange*);
int64_t longshore_box_exchange_memory_bytes(const longshore_box_exchange*);
int longshore_box_exchange_moved(const longshore_box_exchange*, const char*,
                                 struct longshore_traffic*);
int longshore_box_copy_create(const longshore_boxes*, const struct longshore_box_field*,
                              const longshore_boxes*, const struct longshore_box_field*, int,
                              const struct longshore_box_copy_options*, longshore_box_copy**);
int longshore_box_copy_free(longshore_box_copy*);
int longshore_box_copy_start(longshore_box_copy*);
int longshore_box_copy_test(longshore_box_copy*, int*);
int longshore_box_copy_wait(longshore_box_copy*);
int longshore_box_copy_run(longshore_box_copy*);
void longshore_box_copy_moved(const longshore_box_copy*, struct longshore_traffic*);
int longshore_halo_start_on(longshore_halo*, const struct longshore_part*, void*);
int longshore_halo_start_accumulate_on(longshore_halo*, int, const struct longshore_part*, void*);
int longshore_halo_start_assemble_on(longshore_halo*, int, const struct longshore_part*, void*);
int longshore_halo_wait_on(longshore_halo*, void*);
int longshore_ghost_start_update_on(longshore_ghost*, void*);
int longshore_ghost_start_accumulate_on(longshore_ghost*, int, void*);
int longshore_ghost_start_assemble_on(longshore_ghost*, int, void*);
int longshore_ghost_wait_on(longshore_ghost*, void*);
int longshore_box_exchange_start_update_on(longshore_box_exchange*, const struct longshore_part*,
                                           void*);
int longshore_box_exchange_start_accumulate_on(longshore_box_exchange*, int,
                                               const struct longshore_part*, void*);
int longshore_box_exchange_start_assemble_on(longshore_box_exchange*, int,
                                             const struct longshore_part*, void*);
int longshore_box_exchange_wait_on(longshore_box_exchange*, void*);
int longshore_box_copy_start_on(longshore_box_copy*, void*);
int longshore_box_copy_wait_on(longshore_box_copy*, void*);
int longshore_sorter_create(longshore_team*, int, size_t, const struct longshore_sort_options*,
                            longshore_sorter**);
int longshore_sorter_free(longshore_sorter*);
int longshore_sorter_run(longshore_sorter*, const void*, const void*, int64_t, int64_t*);
int longshore_sorter_result(const longshore_sorter*, void*, void*);
const char* longshore_sorter_exchange(const longshore_sorter*);
int longshore_stream_create(longshore_team*, int, int64_t, const struct longshore_stream_options*,
                            longshore_stream**);
int longshore_stream_free(longshore_stream*);
int longshore_stream_run(longshore_stream*);
int64_t longshore_stream_bytes(const longshore_stream*);
int64_t longshore_stream_wrong(longshore_stream*);

#if defined(__LP64__)
#define SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "size of " #type)
#define AT(type, member, bytes) \
  _Static_assert(offsetof(struct type, member) == (bytes), #type ", " #member)

SIZE(longshore_gather_options, 64);
AT(longshore_gather_options, reserved, 32);
AT(longshore_gather_options, strategy, 0);
AT(longshore_gather_options, buffer_items, 8);
AT(longshore_gather_options, hops, 16);
AT(longshore_gather_options, combine, 20);
AT(longshore_gather_options, expected_requests, 24);
SIZE(longshore_grid_options, 88);
AT(longshore_grid_options, reserved, 56);
AT(longshore_grid_options, dimensions, 0);
AT(longshore_grid_options, ranks, 4);
AT(longshore_grid_options, placement, 16);
AT(longshore_grid_options, cells, 24);
AT(longshore_grid_options, periodic, 48);
SIZE(longshore_team_options, 56);
AT(longshore_team_options, reserved, 24);
AT(longshore_team_options, ranks_per_node, 0);
AT(longshore_team_options, timeout_seconds, 8);
AT(longshore_team_options, check_calls, 16);
SIZE(longshore_field, 112);
AT(longshore_field, first, 0);
AT(longshore_field, type, 8);
AT(longshore_field, element_bytes, 16);
AT(longshore_field, extents, 24);
AT(longshore_field, strides, 48);
AT(longshore_field, low, 72);
AT(longshore_field, high, 84);
AT(longshore_field, shared, 96);
AT(longshore_field, items, 108);
SIZE(longshore_halo_options, 88);
AT(longshore_halo_options, reserved, 56);
AT(longshore_halo_options, algorithm, 0);
AT(longshore_halo_options, mode, 8);
AT(longshore_halo_options, reach, 16);
AT(longshore_halo_options, low, 24);
AT(longshore_halo_options, high, 32);
AT(longshore_halo_options, tasks, 40);
AT(longshore_halo_options, task_count, 48);
AT(longshore_halo_options, width, 52);
SIZE(longshore_part, 64);
AT(longshore_part, reserved, 32);
AT(longshore_part, fields, 0);
AT(longshore_part, count, 8);
AT(longshore_part, width, 12);
AT(longshore_part, low, 16);
AT(longshore_part, high, 24);
SIZE(longshore_traffic, 32);
AT(longshore_traffic, messages, 0);
AT(longshore_traffic, payload_bytes, 8);
AT(longshore_traffic, wire_bytes, 16);
AT(longshore_traffic, offnode_bytes, 24);
SIZE(longshore_ghost_field, 64);
AT(longshore_ghost_field, owned, 0);
AT(longshore_ghost_field, ghosts, 8);
AT(longshore_ghost_field, type, 16);
AT(longshore_ghost_field, items, 20);
AT(longshore_ghost_field, element_bytes, 24);
AT(longshore_ghost_field, owned_stride_bytes, 32);
AT(longshore_ghost_field, ghost_stride_bytes, 40);
AT(longshore_ghost_field, owned_places, 48);
AT(longshore_ghost_field, ghost_places, 56);
SIZE(longshore_ghost_options, 48);
AT(longshore_ghost_options, reserved, 16);
AT(longshore_ghost_options, strategy, 0);
AT(longshore_ghost_options, updates, 8);
AT(longshore_ghost_options, accumulates, 12);
SIZE(longshore_combine_batch, 64);
AT(longshore_combine_batch, field, 0);
AT(longshore_combine_batch, count, 8);
AT(longshore_combine_batch, elements, 16);
AT(longshore_combine_batch, element_stride_bytes, 24);
AT(longshore_combine_batch, element_index, 32);
AT(longshore_combine_batch, ghosts, 40);
AT(longshore_combine_batch, ghost_stride_bytes, 48);
AT(longshore_combine_batch, ghost_index, 56);
SIZE(longshore_box, 48);
AT(longshore_box, first, 0);
AT(longshore_box, cells, 24);
SIZE(longshore_glued_cells, 96);
AT(longshore_glued_cells, first, 0);
AT(longshore_glued_cells, cells, 24);
AT(longshore_glued_cells, axis, 48);
AT(longshore_glued_cells, sign, 60);
AT(longshore_glued_cells, offset, 72);
SIZE(longshore_boxes_options, 112);
AT(longshore_boxes_options, reserved, 80);
AT(longshore_boxes_options, domain_first, 0);
AT(longshore_boxes_options, domain_cells, 24);
AT(longshore_boxes_options, periodic, 48);
AT(longshore_boxes_options, glued, 64);
AT(longshore_boxes_options, glued_count, 72);
SIZE(longshore_box_field, 64);
AT(longshore_box_field, boxes, 0);
AT(longshore_box_field, count, 8);
AT(longshore_box_field, type, 12);
AT(longshore_box_field, element_bytes, 16);
AT(longshore_box_field, items, 24);
AT(longshore_box_field, low, 28);
AT(longshore_box_field, high, 40);
AT(longshore_box_field, shared, 52);
SIZE(longshore_box_exchange_options, 40);
AT(longshore_box_exchange_options, reserved, 8);
AT(longshore_box_exchange_options, mode, 0);
SIZE(longshore_box_copy_options, 48);
AT(longshore_box_copy_options, reserved, 16);
AT(longshore_box_copy_options, mode, 0);
AT(longshore_box_copy_options, fills_halos, 8);
SIZE(longshore_sort_options, 112);
AT(longshore_sort_options, reserved, 80);
AT(longshore_sort_options, exchange, 0);
AT(longshore_sort_options, order, 8);
AT(longshore_sort_options, max_key, 16);
AT(longshore_sort_options, stable, 24);
AT(longshore_sort_options, tasks, 32);
AT(longshore_sort_options, task_count, 40);
AT(longshore_sort_options, splitters, 48);
AT(longshore_sort_options, together, 56);
AT(longshore_sort_options, seed, 64);
AT(longshore_sort_options, barrier_before_exchange, 72);
SIZE(longshore_stream_options, 80);
AT(longshore_stream_options, reserved, 48);
AT(longshore_stream_options, kernel, 0);
AT(longshore_stream_options, memory, 8);
AT(longshore_stream_options, tasks, 16);
AT(longshore_stream_options, task_count, 24);
AT(longshore_stream_options, stores, 32);
AT(longshore_stream_options, first_touch, 40);
#endif

#define NUMBER(name, value) _Static_assert((name) == (value), #name)

NUMBER(LONGSHORE_OK, 0);
NUMBER(LONGSHORE_ERROR_USAGE, 1);
NUMBER(LONGSHORE_ERROR_UNSUPPORTED, 2);
NUMBER(LONGSHORE_ERROR_OUT_OF_MEMORY, 3);
NUMBER(LONGSHORE_ERROR_TIMEOUT, 4);
NUMBER(LONGSHORE_ERROR_PEER_FAILED, 5);
NUMBER(LONGSHORE_ERROR_TRANSPORT, 6);
NUMBER(LONGSHORE_ERROR_PROGRAM, 100);
NUMBER(LONGSHORE_INT8, 1);
NUMBER(LONGSHORE_INT16, 2);
NUMBER(LONGSHORE_INT32, 3);
NUMBER(LONGSHORE_INT64, 4);
NUMBER(LONGSHORE_UINT8, 5);
NUMBER(LONGSHORE_UINT16, 6);
NUMBER(LONGSHORE_UINT32, 7);
NUMBER(LONGSHORE_UINT64, 8);
NUMBER(LONGSHORE_FLOAT32, 9);
NUMBER(LONGSHORE_FLOAT64, 10);
NUMBER(LONGSHORE_BYTES, 11);
NUMBER(LONGSHORE_SUM, 1);
NUMBER(LONGSHORE_MIN, 2);
NUMBER(LONGSHORE_MAX, 3);
NUMBER(LONGSHORE_XOR, 4);
NUMBER(LONGSHORE_OR, 5);
NUMBER(LONGSHORE_AND, 6);
