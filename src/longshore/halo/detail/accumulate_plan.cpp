// Finds the copies that blocks have of each other's cells.
#include <longshore/halo/detail/accumulate_plan.hpp>

#include <longshore/halo/detail/grid_handshake.hpp>
#include <longshore/halo/detail/neighbour_fields.hpp>

namespace longshore::detail {
namespace {

// Some cells along one dimension, in the block that has copies and in the block of their owner.
struct cell_range {
  std::ptrdiff_t copy, owner;  // the first cell
  std::size_t cells;
  bool is_halo;  // whether the copies lie in the halo, not in a shared layer
};

// The ranges of copies on one side of a block along dimension d.
std::vector<cell_range> ranges_on_side(const exchanged_field& copy, const exchanged_field& owner,
                                       int side, int d, bool has_low_neighbour) {
  const auto shared = static_cast<std::size_t>(copy.memory.shared[d]);
  if (side == 0) {
    const std::size_t first = has_low_neighbour ? shared : 0;
    const auto index = static_cast<std::ptrdiff_t>(first);
    return {{index, index, copy.memory.extents[d] - first, false}};
  }
  const int width = side < 0 ? copy.widths.low[d] : copy.widths.high[d];
  std::vector<cell_range> ranges{{copy.first_of_halo(d, side, width),
                                  owner.first_of_owned(d, side, width),
                                  static_cast<std::size_t>(width), true}};
  if (side < 0) ranges.push_back({0, owner.first_of_owned(d, side, 0), shared, false});
  return ranges;
}

struct two_boxes {
  element_box copy, owner;
};

// Returns the boxes of the copies that a block has on one side, and of their owners. They are in the
// same order on all ranks.
std::vector<two_boxes> boxes_on_side(const exchanged_field& copy, const exchanged_field& owner,
                                     const halo_direction& side, halo_reach reach,
                                     const std::array<bool, 3>& has_low_neighbour) {
  std::array<std::vector<cell_range>, 3> ranges;
  for (int d = 0; d < 3; ++d)
    ranges[d] = ranges_on_side(copy, owner, side.step[d], d, has_low_neighbour[d]);
  std::vector<two_boxes> boxes;
  for (const auto& z : ranges[2])
    for (const auto& y : ranges[1])
      for (const auto& x : ranges[0]) {
        const int steps = int{x.is_halo} + int{y.is_halo} + int{z.is_halo};
        if (steps > static_cast<int>(reach) || x.cells * y.cells * z.cells == 0) continue;
        const std::array<std::size_t, 3> cells{x.cells, y.cells, z.cells};
        boxes.push_back({copy.box({x.copy, y.copy, z.copy}, cells),
                         owner.box({x.owner, y.owner, z.owner}, cells)});
      }
  return boxes;
}

// A sum has one message for each neighbour, and no pairs. So carriers that call MPI per pair are
// not used here.
carrier carrier_of_sums(halo_mode mode) {
  switch (mode) {
    case halo_mode::direct: return carrier::direct;
    case halo_mode::channel: return carrier::channels;
    case halo_mode::persistent: return carrier::mpi_persistent;
    case halo_mode::neighbor: return carrier::mpi_neighbor;
    default: return carrier::mpi_waitall;
  }
}

}  // namespace

std::unique_ptr<exchange_plan> make_accumulate_plan(const rank_grid& grid,
                                                    std::span<const exchanged_field> fields,
                                                    halo_reach reach, halo_mode mode) {
  team& ranks = grid.ranks();
  const int me = ranks.rank();
  plan_setup setup{.name = "halo", .by = carrier_of_sums(mode), .neighbours = messenger_of(grid)};
  const auto known = learn_fields_of_neighbours(ranks, *setup.neighbours, fields).of_rank;
  plan_arguments arguments("an accumulate of halos", {});
  arguments.attempt([&] { check_widths(grid, fields, known, true); });
  std::array<bool, 3> has_low_neighbour{};
  for (int d = 0; d < grid.dimensions(); ++d)
    has_low_neighbour[d] = grid.neighbour(directions_along(d)[0]) >= 0;

  copy_links links(me, true, true);
  const auto add = [&](const halo_direction& side, int with_copies, int owner) {
    if (with_copies < 0 || owner < 0) return;
    for (std::size_t f = 0; f < fields.size(); ++f)
      for (const auto& boxes : boxes_on_side(known.at(with_copies)[f], known.at(owner)[f], side,
                                             reach, has_low_neighbour))
        links.add({with_copies, static_cast<int>(f), boxes.copy},
                  {owner, static_cast<int>(f), boxes.owner}, fields[f].memory.element_bytes);
  };
  for (const auto& side : all_directions(grid.dimensions())) {
    const int owner = grid.neighbour(side), with_copies = grid.neighbour(side.opposite());
    add(side, me, owner);
    // If this rank is its own neighbour, both ends of the link are added above.
    if (with_copies != me) add(side, with_copies, me);
  }

  setup.programs = std::move(links).programs();
  rank_memories memories;
  for (const auto& field : fields) {
    const int number = static_cast<int>(memories.size());
    memories.push_back({field_of_cells(field.memory, number)});
    setup.types.push_back(field.memory.type);
  }
  setup.memory = std::make_unique<plan_memory>(ranks, memories);
  return std::make_unique<exchange_plan>(ranks, std::move(setup), std::move(arguments));
}

}  // namespace longshore::detail
