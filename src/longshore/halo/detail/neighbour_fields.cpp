// Neighbours tell each other extents, strides and widths of their fields.
#include <longshore/halo/detail/neighbour_fields.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <algorithm>

namespace longshore::detail {
namespace {

struct told_field {
  std::size_t element_bytes;
  std::array<std::size_t, 3> extents;
  std::array<std::ptrdiff_t, 3> strides_bytes;
  std::array<int, 3> low, high, shared;

  friend bool operator==(const told_field&, const told_field&) = default;
};
// Fields that follow each other and are alike.
struct told_fields {
  told_field each;
  std::size_t count;
};

told_field told(const exchanged_field& field) {
  return {field.memory.element_bytes, field.memory.extents, field.memory.strides_bytes,
          field.widths.low,           field.widths.high,    field.memory.shared};
}

exchanged_field learned(const told_field& told) {
  field_memory memory{.element_bytes = told.element_bytes,
                      .extents = told.extents,
                      .strides_bytes = told.strides_bytes,
                      .widths = {told.low, told.high},
                      .shared = told.shared,
                      .memory = {}};
  return {memory, memory.widths};
}

// Throws if a width differs on a side on which both ranks have neighbours.
void check_equal_widths(const rank_grid& grid, int neighbour, const halo_direction& direction,
                        std::size_t field, const halo_widths& mine, const halo_widths& theirs) {
  const auto there = *grid.placed().step_from(grid.coordinates(), direction, grid.wraps());
  for (int d = 0; d < grid.dimensions(); ++d) {
    const auto sides = directions_along(d);
    for (const bool is_low : {true, false}) {
      const auto& side = sides[is_low ? 0 : 1];
      const int my_width = is_low ? mine.low[d] : mine.high[d],
                their_width = is_low ? theirs.low[d] : theirs.high[d];
      if (my_width == their_width || grid.neighbour(side) < 0 || grid.neighbour(there, side) < 0)
        continue;
      fail(errc::usage,
           "the halo cells of rank {} do not fit those of rank {}: the {} field has a halo of {} "
           "cells on the {} side along {} on rank {}, and of {} on rank {}: use equal widths on "
           "all sides with neighbours",
           neighbour, grid.ranks().rank(), nth(field), their_width, is_low ? "low" : "high",
           axis_names[d], neighbour, my_width, grid.ranks().rank());
    }
  }
}

}  // namespace

learned_fields learn_fields_of_neighbours(team& ranks, messenger& neighbours,
                                          std::span<const exchanged_field> fields,
                                          std::span<std::int64_t> numbers) {
  std::vector<told_fields> runs;
  learned_fields known;
  bool was_shareable = false;
  for (const auto& field : fields) {
    const told_fields next{told(field), 0};
    const bool is_shareable = find_shareable(field.memory.first).has_value();
    const bool is_alike =
        !runs.empty() && runs.back().each == next.each && is_shareable == was_shareable;
    if (!is_alike) runs.push_back(next);
    known.begins_group.push_back(is_alike ? 0 : 1);
    ++runs.back().count;
    was_shareable = is_shareable;
  }
  handshake_writer writer;
  writer.add_values(std::span<const told_fields>(runs));
  const std::vector<std::vector<std::byte>> messages(neighbours.peers().size(), writer.take());
  agreed_numbers agreed(numbers.begin(), numbers.end());
  const auto groups = std::as_bytes(std::span(known.begins_group));
  const auto hash = static_cast<std::int64_t>(
      hash_of({reinterpret_cast<const char*>(groups.data()), groups.size()}) >> 2);
  agreed.insert(agreed.end(), {hash, -hash});
  const auto received = neighbours.exchange(messages, agreed, [&](const agreed_numbers& largest) {
    std::copy_n(largest.begin(), numbers.size(), numbers.begin());
    known.are_groups_equal = largest[numbers.size()] == -largest.back();
  });
  const auto add = [&](int rank, const told_fields& run) {
    auto& of_rank = known.of_rank[rank];
    of_rank.insert(of_rank.end(), run.count, learned(run.each));
  };
  for (const auto& run : runs) add(ranks.rank(), run);
  for (std::size_t i = 0; i < received.size(); ++i)
    for (handshake_reader reader(received[i]); !reader.at_end();)
      add(neighbours.peers()[i], reader.take<told_fields>());
  return known;
}

std::vector<exchanged_field> first_of_groups(team& ranks, std::span<const exchanged_field> fields,
                                             learned_fields& known) {
  auto& begins_group = known.begins_group;
  if (!known.are_groups_equal) ranks.allreduce(std::span(begins_group), reduction::max);
  std::vector<exchanged_field> first;
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (begins_group[f] == 1)
      first.push_back(fields[f]);
    else
      ++first.back().alike;
  return first;
}

void check_widths(const rank_grid& grid, std::span<const exchanged_field> fields,
                  const fields_by_rank& known, bool combines) {
  for (int d = 0; d < grid.dimensions(); ++d) {
    const auto [down, up] = directions_along(d);
    for (const auto& direction : {down, up}) {
      const int neighbour = grid.neighbour(direction);
      if (neighbour < 0) continue;
      for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto& theirs = known.at(neighbour)[f].widths;
        check_equal_widths(grid, neighbour, direction, f, fields[f].widths, theirs);
        const int width = direction.step[d] < 0 ? theirs.high[d] : theirs.low[d];
        const int shared = fields[f].memory.shared[d];
        const auto cells = fields[f].memory.extents[d];
        const auto needed = static_cast<std::size_t>(width + (combines ? 2 : 1) * shared);
        if (cells < needed)
          fail(errc::usage,
               "the {} field on rank {} has {} cells along {}: rank {} has a halo of {} cells "
               "there, and {} layers are shared, so a block needs {}",
               nth(f), grid.ranks().rank(), cells, axis_names[d], neighbour, width, shared, needed);
      }
    }
  }
}

}  // namespace longshore::detail
