// Writes the programs of plans between boxes.
#include <longshore/boxes/detail/box_plan.hpp>

#include <longshore/core/detail/joined.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/transport/detail/handshake_message.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace longshore::detail {
namespace {

using strides_bytes = std::array<std::ptrdiff_t, 3>;

// The strides of all boxes of a rank and all fields, by number of box and field.
using strides_of_rank = std::vector<strides_bytes>;

// A copy: some cells of one box that another box owns.
struct copy_piece {
  std::uint32_t copy_box;
  owned_piece owner;
};

// What decides which cells of a box are copies.
struct field_shape {
  halo_widths widths;
  std::array<int, 3> shared;
  friend bool operator==(const field_shape&, const field_shape&) = default;
};
struct field_shapes {
  std::vector<field_shape> distinct;
  std::vector<std::size_t> of_field;  // in `distinct`
};

field_shapes shapes_of(std::span<const box_field_memory> fields) {
  field_shapes shapes;
  for (const auto& field : fields) {
    const field_shape shape{field.widths, field.shared};
    const auto found = std::find(shapes.distinct.begin(), shapes.distinct.end(), shape);
    shapes.of_field.push_back(static_cast<std::size_t>(found - shapes.distinct.begin()));
    if (found == shapes.distinct.end()) shapes.distinct.push_back(shape);
  }
  return shapes;
}

// Calls f(piece) for the cells of a box that are copies.
template <class F>
void for_each_copy(const box_copies& what, std::uint32_t box, const field_shape& shape,
                   const F& f) {
  const auto& [widths, shared] = shape;
  const auto points = what.copies.points(box, shared);
  const auto region = what.takes_halo ? grown(points, widths.low, widths.high) : points;
  std::vector<cell_box> parts;
  for (const auto& owner : what.owners.owners_of(region, shared)) {
    if (what.is_same && owner.box == box && owner.map == 0) continue;
    parts.clear();
    if (!what.takes_shared)
      subtract(owner.cells, points, parts);
    else
      parts.push_back(owner.cells);
    for (const auto& cells : parts) f(copy_piece{box, {cells, owner.box, owner.map}});
  }
}

// Strides of memory without gaps, with the widths of the field.
strides_bytes dense_strides(const cell_box& box, const box_field_memory& field) {
  strides_bytes strides{};
  auto stride = static_cast<std::ptrdiff_t>(field.element_bytes);
  for (int d = 0; d < 3; ++d) {
    strides[d] = stride;
    stride *= static_cast<std::ptrdiff_t>(box.cells[d]) + field.shared[d] + field.widths.low[d] +
              field.widths.high[d];
  }
  return strides;
}

// What this rank knows of the fields of one layout on all ranks.
class known_fields {
 public:
  known_fields(const layout_data& layout, std::span<const box_field_memory> fields)
      : layout_(layout), fields_(fields) {
    for (std::size_t f = 0; f < fields.size(); ++f)
      for (std::size_t b = 0; b < fields[f].boxes.size(); ++b)
        is_dense_ = is_dense_ && fields[f].boxes[b].strides_bytes ==
                                     dense_strides(layout.boxes()[first_mine() + b], fields[f]);
  }
  /// Whether other ranks can compute the strides of this rank.
  [[nodiscard]] bool is_dense() const noexcept { return is_dense_; }
  [[nodiscard]] std::vector<std::byte> told() const {
    handshake_writer writer;
    for (std::size_t b = 0; b < mine(); ++b)
      for (const auto& field : fields_) writer.add(field.boxes[b].strides_bytes);
    return writer.take();
  }
  void learn(int rank, handshake_reader& reader) {
    strides_[rank] = reader.take_values<strides_bytes>(memories(rank));
  }
  /// The number of memories of a rank: one per box and field.
  [[nodiscard]] std::size_t memories(int rank) const {
    return (layout_.first_box(rank + 1) - layout_.first_box(rank)) * fields_.size();
  }
  [[nodiscard]] int memory(std::uint32_t box, std::size_t field) const {
    const std::size_t local = box - layout_.first_box(layout_.owner(box));
    return static_cast<int>(local * fields_.size() + field);
  }
  [[nodiscard]] strides_bytes strides(std::uint32_t box, std::size_t field) const {
    const int rank = layout_.owner(box);
    if (rank == layout_.ranks().rank())
      return fields_[field].boxes[box - first_mine()].strides_bytes;
    const auto told = strides_.find(rank);
    if (told == strides_.end()) return dense_strides(layout_.boxes()[box], fields_[field]);
    return told->second[static_cast<std::size_t>(memory(box, field))];
  }
  [[nodiscard]] std::ptrdiff_t offset(std::uint32_t box, const std::array<std::int64_t, 3>& cell,
                                      const strides_bytes& strides) const {
    std::ptrdiff_t offset = 0;
    for (int d = 0; d < 3; ++d)
      offset += static_cast<std::ptrdiff_t>(cell[d] - layout_.boxes()[box].first[d]) * strides[d];
    return offset;
  }

 private:
  [[nodiscard]] std::size_t first_mine() const { return layout_.first_box(layout_.ranks().rank()); }
  [[nodiscard]] std::size_t mine() const {
    return layout_.first_box(layout_.ranks().rank() + 1) - first_mine();
  }

  const layout_data& layout_;
  std::span<const box_field_memory> fields_;
  bool is_dense_ = true;
  std::map<int, strides_of_rank> strides_;  // of ranks whose memory is not dense
};

struct two_sets {
  element_box copy, owner;
};

two_sets sets_of(const copy_piece& piece, std::size_t field, const known_fields& copies,
                 const known_fields& owners, const std::vector<cell_map>& maps) {
  const auto& [cells, owner_box, number] = piece.owner;
  const auto& map = maps[number];
  std::array<std::size_t, 3> extents{};
  for (int d = 0; d < 3; ++d) extents[d] = static_cast<std::size_t>(cells.cells[d]);
  const auto copy_strides = copies.strides(piece.copy_box, field);
  const auto owner_strides = owners.strides(owner_box, field);
  strides_bytes turned{};
  for (int d = 0; d < 3; ++d) turned[d] = map.sign[d] * owner_strides[map.axis[d]];
  return {{copies.offset(piece.copy_box, cells.first, copy_strides), extents, copy_strides},
          {owners.offset(owner_box, map(cells.first), owner_strides), extents, turned}};
}

// The numbers of the boxes of other ranks that may have copies of cells of this rank.
std::set<std::uint32_t> boxes_with_copies(const box_copies& what,
                                          std::span<const field_shape> shapes) {
  std::vector<std::uint32_t> found;
  const int me = what.owners.ranks().rank();
  for (const auto& [widths, shared] : shapes) {
    const halo_widths taken = what.takes_halo ? widths : halo_widths();
    for (std::size_t b = what.owners.first_box(me); b < what.owners.first_box(me + 1); ++b)
      what.copies.boxes_that_reach(what.owners.points(b, shared), shared, taken.low, taken.high,
                                   what.owners.maps(), found);
  }
  std::set<std::uint32_t> others;
  for (const auto box : found)
    if (what.copies.owner(box) != me) others.insert(box);
  return others;
}

rank_memories memories_of(const layout_data& layout, std::span<const box_field_memory> fields) {
  const int me = layout.ranks().rank();
  rank_memories memories;
  for (std::size_t b = 0; b < layout.first_box(me + 1) - layout.first_box(me); ++b)
    for (std::size_t f = 0; f < fields.size(); ++f)
      memories.push_back({field_of_cells(fields[f].boxes[b], static_cast<int>(f))});
  return memories;
}

// Collective. Tells the neighbours the strides of this rank's memory. Each of `all` belongs to
// another layout.
void learn_strides(messenger& neighbours, std::span<known_fields* const> all) {
  handshake_writer writer;
  for (const auto* fields : all) writer.add_values(std::span<const std::byte>(fields->told()));
  const std::vector<std::vector<std::byte>> messages(neighbours.peers().size(), writer.take());
  const auto received = neighbours.exchange(messages);
  for (std::size_t i = 0; i < received.size(); ++i) {
    handshake_reader reader(received[i]);
    for (auto* fields : all) fields->learn(neighbours.peers()[i], reader);
  }
}

}  // namespace

void add_arguments(common_arguments& same, std::span<const box_field_memory> fields) {
  same.add("fields:", fields.size());
  for (const auto& field : fields)
    same.add("a field of", fmt::format("{} ({} bytes), halo {};{}, shared {}",
                                       field.type != nullptr ? field.type->name() : "no type",
                                       field.element_bytes, joined(field.widths.low, ","),
                                       joined(field.widths.high, ","), joined(field.shared, ",")));
}

void check_widths_in_domain(const layout_data& layout, std::size_t number,
                            const box_field_memory& field) {
  const auto& domain = layout.domain();
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[d] &&
        std::max(field.widths.low[d], field.widths.high[d]) + field.shared[d] >
            domain.domain.cells[d])
      fail(errc::usage,
           "the {} field: a halo of {} and {} cells, with {} shared layers, is wider than the "
           "periodic domain along {}",
           nth(number), field.widths.low[d], field.widths.high[d], field.shared[d], axis_names[d]);
}

void check_box_fields(const layout_data& layout, std::span<const box_field_memory> fields) {
  const int me = layout.ranks().rank();
  const std::size_t first = layout.first_box(me), mine = layout.first_box(me + 1) - first;
  if (fields.empty()) fail(errc::usage, "a plan of boxes on rank {} has no field", me);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& field = fields[f];
    if (field.type == nullptr || field.element_bytes == 0)
      fail(errc::usage, "the {} field of a plan of boxes on rank {} has no type", nth(f), me);
    if (field.boxes.size() != mine)
      fail(errc::usage, "the {} field has {} views on rank {}, which has {} boxes", nth(f),
           field.boxes.size(), me, mine);
    check_widths_in_domain(layout, f, field);
    for (int d = 0; d < 3; ++d) {
      if (field.widths.low[d] < 0 || field.widths.high[d] < 0 || field.shared[d] < 0)
        fail(errc::usage,
             "the {} field: a halo of {} and {} cells and {} shared layers along {}: use 0 "
             "or more",
             nth(f), field.widths.low[d], field.widths.high[d], field.shared[d], axis_names[d]);
      if (field.shared[d] > 0 && !layout.domain().glued.empty())
        fail(errc::unsupported,
             "the {} field shares layers, in a layout with glued cells: only fields "
             "of cells can be glued",
             nth(f));
      for (std::size_t b = 0; b < mine; ++b) {
        const auto& memory = field.boxes[b];
        const auto cells = layout.boxes()[first + b].cells[d] + field.shared[d];
        if (memory.extents[d] != static_cast<std::size_t>(cells))
          fail(errc::usage,
               "the {} field, {} box of rank {}: the view has {} cells along {}, and the box "
               "needs {}",
               nth(f), nth(b), me, memory.extents[d], axis_names[d], cells);
        if (memory.widths.low[d] < field.widths.low[d] ||
            memory.widths.high[d] < field.widths.high[d])
          fail(errc::usage,
               "the {} field, {} box of rank {}: the view has a halo of {} and {} cells along "
               "{}, and the field needs {} and {}",
               nth(f), nth(b), me, memory.widths.low[d], memory.widths.high[d], axis_names[d],
               field.widths.low[d], field.widths.high[d]);
      }
    }
  }
}

std::unique_ptr<exchange_plan> make_box_plan(const box_copies& what, box_mode mode,
                                             bool accumulates, bool updates,
                                             plan_arguments arguments) {
  team& ranks = what.owners.ranks();
  const int me = ranks.rank();
  std::optional<known_fields> of_copies, of_owners;
  bool is_dense = true;
  arguments.attempt([&] {
    of_copies.emplace(what.copies, what.copy_fields);
    if (!what.is_same) of_owners.emplace(what.owners, what.owner_fields);
    is_dense = of_copies->is_dense() && (what.is_same || of_owners->is_dense());
  });
  const bool are_all_dense = arguments.agree_now(ranks, is_dense ? 0 : 1) == 0;
  auto &copies = *of_copies, &owners = what.is_same ? copies : *of_owners;

  // First the pieces of which this rank has the copies, then the pieces that it owns. Both ends of
  // a link list them in the order of the boxes that have the copies.
  const auto shapes = shapes_of(what.copy_fields);
  std::vector<std::vector<copy_piece>> pieces(shapes.distinct.size());
  const auto find = [&](std::uint32_t box) {
    for (std::size_t s = 0; s < pieces.size(); ++s)
      for_each_copy(what, box, shapes.distinct[s], [&](const copy_piece& piece) {
        if (what.copies.owner(box) == me || what.owners.owner(piece.owner.box) == me)
          pieces[s].push_back(piece);
      });
  };
  for (std::size_t b = what.copies.first_box(me); b < what.copies.first_box(me + 1); ++b)
    find(static_cast<std::uint32_t>(b));
  for (const auto box : boxes_with_copies(what, shapes.distinct)) find(box);

  std::set<int> peers;
  for (const auto& of_shape : pieces)
    for (const auto& piece : of_shape) {
      peers.insert(what.copies.owner(piece.copy_box));
      peers.insert(what.owners.owner(piece.owner.box));
    }
  peers.erase(me);
  plan_setup setup{.name = "box",
                   .by = mode == box_mode::direct ? carrier::direct : carrier::channels,
                   .neighbours = std::make_shared<messenger>(
                       ranks, std::vector<int>(peers.begin(), peers.end()))};
  const std::array<known_fields*, 2> known{&copies, &owners};
  if (!are_all_dense)
    learn_strides(*setup.neighbours, std::span(known).first(what.is_same ? 1 : 2));

  // The memories of the owners follow those of the copies.
  auto memories = memories_of(what.copies, what.copy_fields);
  const auto owner_memory = [&](std::uint32_t box, std::size_t f) {
    const std::size_t before = what.is_same ? 0 : copies.memories(what.owners.owner(box));
    return static_cast<int>(before) + owners.memory(box, f);
  };
  if (!what.is_same) {
    auto more = memories_of(what.owners, what.owner_fields);
    std::move(more.begin(), more.end(), std::back_inserter(memories));
  }
  copy_links links(me, accumulates, updates);
  for (std::size_t f = 0; f < what.copy_fields.size(); ++f) {
    setup.types.push_back(what.copy_fields[f].type);
    for (const auto& piece : pieces[shapes.of_field[f]]) {
      const auto sets = sets_of(piece, f, copies, owners, what.owners.maps());
      links.add({what.copies.owner(piece.copy_box), copies.memory(piece.copy_box, f), sets.copy},
                {what.owners.owner(piece.owner.box), owner_memory(piece.owner.box, f), sets.owner},
                what.copy_fields[f].element_bytes);
    }
  }
  setup.programs = std::move(links).programs();
  setup.memory = std::make_unique<plan_memory>(ranks, memories);
  return std::make_unique<exchange_plan>(ranks, std::move(setup), plan_arguments());
}

}  // namespace longshore::detail
