// Functions longshore_team_... and the collectives. The type of the values of a collective is known
// only at run time. Also the parts of handles.hpp and longshore_cxx.hpp that need a team.
#include "handles.hpp"
#include "longshore.h"
#include "longshore_cxx.hpp"

#include <longshore/transport/exact_sum.hpp>
#include <longshore/transport/launch/join.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace longshore::bindings {
namespace {

struct type_properties {
  int type;
  std::size_t bytes;
  const char* name;
};
constexpr std::array<type_properties, 10> known_types = {{{LONGSHORE_INT8, 1, "int8"},
                                                          {LONGSHORE_INT16, 2, "int16"},
                                                          {LONGSHORE_INT32, 4, "int32"},
                                                          {LONGSHORE_INT64, 8, "int64"},
                                                          {LONGSHORE_UINT8, 1, "uint8"},
                                                          {LONGSHORE_UINT16, 2, "uint16"},
                                                          {LONGSHORE_UINT32, 4, "uint32"},
                                                          {LONGSHORE_UINT64, 8, "uint64"},
                                                          {LONGSHORE_FLOAT32, 4, "float32"},
                                                          {LONGSHORE_FLOAT64, 8, "float64"}}};

reduction reduction_of(int which) {
  if (which == LONGSHORE_SUM) return reduction::sum;
  if (which == LONGSHORE_MIN) return reduction::min;
  if (which == LONGSHORE_MAX) return reduction::max;
  fail(errc::usage,
       "a reduction with operation {}: it is one of LONGSHORE_SUM, LONGSHORE_MIN, LONGSHORE_MAX",
       which);
}

// A reduction to all ranks, or to one.
struct reduction_call {
  team& ranks;
  reduction how;
  std::optional<int> root;

  [[nodiscard]] bool has_result() const { return !root || ranks.rank() == *root; }
  template <class Wide>
  void run(std::span<Wide> values) const {
    if (root)
      ranks.reduce(values, how, *root);
    else
      ranks.allreduce(values, how);
  }
  // All ranks learn whether the sums fit.
  template <class T>
  void sum(std::span<T> values) const {
    std::vector<T> sums(values.begin(), values.end());
    sum_exactly(ranks, std::span(sums));
    if (has_result()) std::copy(sums.begin(), sums.end(), values.begin());
  }
};

// Converts the values to a type that the team can reduce (int64 or double), and converts the
// results back.
template <class Wide, class T>
void reduce_as(const reduction_call& call, T* values, std::size_t count) {
  std::vector<Wide> wide(values, values + count);
  call.run(std::span<Wide>(wide));
  if (!call.has_result()) return;
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(wide[i]);
}

// Reduces uint64 as int64. The highest bit is flipped, so that int64 has the order of uint64.
void reduce_order_of_uint64(const reduction_call& call, std::uint64_t* values, std::size_t count) {
  constexpr std::uint64_t flip = std::uint64_t{1} << 63;
  std::vector<std::int64_t> wide(count);
  for (std::size_t i = 0; i < count; ++i) wide[i] = static_cast<std::int64_t>(values[i] ^ flip);
  call.run(std::span(wide));
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint64_t>(wide[i]) ^ flip;
}

template <class T>
void reduce_typed(const reduction_call& call, void* data, std::size_t count) {
  T* const values = static_cast<T*>(data);
  if constexpr (std::is_floating_point_v<T>)
    reduce_as<double>(call, values, count);
  else if (call.how == reduction::sum)
    call.sum(std::span(values, count));
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    reduce_order_of_uint64(call, values, count);
  else
    reduce_as<std::int64_t>(call, values, count);
}

void reduce(const reduction_call& call, void* values, std::size_t count, int type) {
  switch (type) {
    case LONGSHORE_INT8: return reduce_typed<std::int8_t>(call, values, count);
    case LONGSHORE_INT16: return reduce_typed<std::int16_t>(call, values, count);
    case LONGSHORE_INT32: return reduce_typed<std::int32_t>(call, values, count);
    case LONGSHORE_INT64: return reduce_typed<std::int64_t>(call, values, count);
    case LONGSHORE_UINT8: return reduce_typed<std::uint8_t>(call, values, count);
    case LONGSHORE_UINT16: return reduce_typed<std::uint16_t>(call, values, count);
    case LONGSHORE_UINT32: return reduce_typed<std::uint32_t>(call, values, count);
    case LONGSHORE_UINT64: return reduce_typed<std::uint64_t>(call, values, count);
    case LONGSHORE_FLOAT32: return reduce_typed<float>(call, values, count);
    case LONGSHORE_FLOAT64: return reduce_typed<double>(call, values, count);
    // Always throws: the type is LONGSHORE_BYTES, here without a size, or unknown.
    default: static_cast<void>(bytes_of_type(type, 0, "a reduction"));
  }
}

int reduce(longshore_team* team, void* values, std::int64_t count, int type, int reduction,
           std::optional<int> root) {
  return guarded([&] {
    longshore::team& ranks = checked(team).ranks;
    const std::size_t items = count_from(count, "the number of values");
    if (items > 0) required(static_cast<std::byte*>(values), "the array of values");
    if (root && (*root < 0 || *root >= ranks.size()))
      fail(errc::usage, "a reduction to rank {}: the ranks are 0 to {}", *root, ranks.size() - 1);
    reduce({ranks, reduction_of(reduction), root}, values, items, type);
  });
}

// The size of the blocks of all ranks together.
std::size_t bytes_of_blocks(const team& ranks, std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(bytes, static_cast<std::size_t>(ranks.size()), &total) ||
      total > PTRDIFF_MAX)
    fail(errc::usage, "blocks of {} bytes for {} ranks: this is more than any memory holds", bytes,
         ranks.size());
  return total;
}

// For functions that cannot return a code.
const team& ranks_of(const longshore_team* team) {
  if (team == nullptr) report_ignored_join();
  return existing(team, "the team").ranks;
}

}  // namespace

std::size_t bytes_of_type(int type, std::size_t element_bytes, const char* what) {
  for (const auto& known : known_types)
    if (known.type == type) return known.bytes;
  if (type == LONGSHORE_BYTES && element_bytes > 0) return element_bytes;
  if (type == LONGSHORE_BYTES)
    fail(errc::usage,
         "{} of type LONGSHORE_BYTES with elements of 0 bytes: give their size, or another type",
         what);
  fail(errc::usage,
       "{} of type {}: it is one of enum longshore_type, LONGSHORE_INT8 (1) to LONGSHORE_FLOAT64 "
       "(10) or LONGSHORE_BYTES (11)",
       what, type);
}

const char* name_of_type(int type) noexcept {
  for (const auto& known : known_types)
    if (known.type == type) return known.name;
  return "bytes";
}

}  // namespace longshore::bindings

namespace longshore {

void end_c_team::operator()(longshore_team* handle) const { delete handle; }

c_team make_c_team(team& ranks) { return c_team(new longshore_team(ranks)); }

void check_c(int code) {
  if (code == LONGSHORE_OK) return;
  // LONGSHORE_ERROR_PROGRAM, which is above the other codes, has no errc.
  throw error(code <= LONGSHORE_ERROR_TRANSPORT ? static_cast<errc>(code) : errc::usage,
              longshore_error_message());
}

}  // namespace longshore

void longshore_team::free(longshore::bindings::resource* object) {
  if (object == nullptr) return;
  object->team().check_thread();
  if (object->dependents() > 0)
    longshore::fail(longshore::errc::usage,
                    "the {} is still used by {} other object(s): free these first", object->kind(),
                    object->dependents());
  // The list holds every object that was not freed, so the search finds it.
  auto& resources = object->team().resources;
  const auto position =
      std::find_if(resources.rbegin(), resources.rend(),
                   [object](const auto& resource) { return resource.get() == object; });
  const auto freed = std::move(*position);      // destroyed after the list is consistent again
  resources.erase(std::next(position).base());  // the forward iterator to the same element
}

extern "C" {

using namespace longshore;
using namespace longshore::bindings;

size_t longshore_type_bytes(int type) {
  for (const auto& known : known_types)
    if (known.type == type) return known.bytes;
  return 0;
}

int longshore_finalize(longshore_team* team) {
  return guarded([&] {
    if (team == nullptr) return;
    team->check_thread();
    if (!team->own)
      fail(errc::usage,
           "longshore_finalize of a team of longshore_run, which ends its team itself: remove this "
           "call");
    if (detail::mpi_has_ended()) {
      delete team;
      fail(errc::usage, "longshore_finalize after MPI_Finalize: end each team before MPI ends");
    }
    team->complete();
    delete team;
  });
}

int longshore_team_rank(const longshore_team* team) { return ranks_of(team).rank(); }
int longshore_team_size(const longshore_team* team) { return ranks_of(team).size(); }
int longshore_team_nodes(const longshore_team* team) { return ranks_of(team).nodes().node_count(); }
const char* longshore_team_transport(const longshore_team* team) {
  return ranks_of(team).transport_name().data();
}
double longshore_team_seconds(const longshore_team* team) { return ranks_of(team).now(); }

int longshore_barrier(longshore_team* team) {
  return guarded([&] { checked(team).ranks.barrier(); });
}

int longshore_broadcast(longshore_team* team, void* data, size_t bytes, int root) {
  return guarded([&] {
    longshore::team& ranks = checked(team).ranks;
    if (root < 0 || root >= ranks.size())
      fail(errc::usage, "broadcast from rank {}: the ranks are 0 to {}", root, ranks.size() - 1);
    if (bytes > 0) required(static_cast<std::byte*>(data), "the data of a broadcast");
    ranks.broadcast({static_cast<std::byte*>(data), bytes}, root);
  });
}

int longshore_allreduce(longshore_team* team, void* values, int64_t count, int type,
                        int reduction) {
  return reduce(team, values, count, type, reduction, {});
}

int longshore_reduce(longshore_team* team, void* values, int64_t count, int type, int reduction,
                     int root) {
  return reduce(team, values, count, type, reduction, root);
}

int longshore_allgather(longshore_team* team, const void* mine, size_t bytes, void* all) {
  return guarded([&] {
    longshore::team& ranks = checked(team).ranks;
    if (bytes > 0) {
      required(static_cast<const std::byte*>(mine), "the block for an allgather");
      required(static_cast<std::byte*>(all), "the result buffer of an allgather");
    }
    ranks.allgather({static_cast<const std::byte*>(mine), bytes},
                    {static_cast<std::byte*>(all), bytes_of_blocks(ranks, bytes)});
  });
}

int longshore_alltoall(longshore_team* team, const void* outgoing, size_t bytes, void* incoming) {
  return guarded([&] {
    longshore::team& ranks = checked(team).ranks;
    if (bytes > 0) {
      required(static_cast<const std::byte*>(outgoing), "the outgoing blocks");
      required(static_cast<std::byte*>(incoming), "the buffer for incoming blocks");
    }
    const std::size_t total = bytes_of_blocks(ranks, bytes);
    ranks.alltoall({static_cast<const std::byte*>(outgoing), total},
                   {static_cast<std::byte*>(incoming), total});
  });
}
}
