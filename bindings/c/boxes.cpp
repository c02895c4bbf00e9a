// Functions longshore_boxes_..., longshore_box_exchange_... and longshore_box_copy_...: checks what
// the program gives and calls longshore::box_layout, box_exchange and box_copy.
#include "elements.hpp"
#include "fields.hpp"
#include "handles.hpp"
#include "longshore.h"
#include "parts.hpp"

#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>

#include <algorithm>
#include <span>
#include <tuple>

using namespace longshore;
using namespace longshore::bindings;

namespace longshore {

template <>
inline constexpr enum_names<3> all_names<box_operation> = {"operation of boxes",
                                                           {"update", "accumulate", "assemble"}};

}  // namespace longshore

struct longshore_boxes final : resource {
  longshore_boxes(longshore_team& owner, box_layout made)
      : resource(owner, "box layout"), layout(std::move(made)) {}
  box_layout layout;
};

namespace {

// What the program gives as fields.
struct field_list {
  std::vector<box_field_memory> memory;
  std::vector<longshore_box_field> given;
};

}  // namespace

struct longshore_box_exchange final : resource {
  longshore_box_exchange(const longshore_boxes& boxes, std::vector<const resource*> dependencies,
                         field_list list, const box_options& options)
      : resource(boxes.team(), "box exchange", std::move(dependencies)),
        fields(std::move(list.given)),
        plan(boxes.layout, options, std::move(list.memory)) {}
  std::vector<longshore_box_field> fields;
  box_exchange plan;
  bool in_flight = false;
  void complete() override { complete_operation(*this); }
};

struct longshore_box_copy final : resource {
  longshore_box_copy(longshore_team& owner, std::vector<const resource*> dependencies,
                     box_copy made)
      : resource(owner, "box copy", std::move(dependencies)), plan(std::move(made)) {}
  box_copy plan;
  bool in_flight = false;
  void complete() override { complete_operation(*this); }
};

namespace {

using triple = std::array<std::int64_t, 3>;

triple triple_of(const std::int64_t (&given)[3]) { return {given[0], given[1], given[2]}; }
std::array<int, 3> triple_of(const int (&given)[3]) { return {given[0], given[1], given[2]}; }

// The elements of an array that the program gives; NULL is allowed for 0 elements.
template <class T>
std::span<const T> array_from(const T* first, int count, const char* number, const char* array) {
  const std::size_t size = count_from(count, number);
  if (size > 0) required(first, array);
  return {first, size};
}

std::vector<cell_box> boxes_from(const longshore_box* boxes, int count) {
  std::vector<cell_box> mine;
  for (const auto& box : array_from(boxes, count, "the number of boxes", "the array of boxes"))
    mine.push_back({triple_of(box.first), triple_of(box.cells)});
  return mine;
}

box_domain domain_of(const longshore_boxes_options* given) {
  box_domain domain;
  if (given == nullptr) return domain;
  check_reserved(given->reserved, "longshore_boxes_options");
  domain.domain = {triple_of(given->domain_first), triple_of(given->domain_cells)};
  for (int d = 0; d < 3; ++d) domain.periodic[d] = given->periodic[d] != 0;
  for (const auto& glued : array_from(given->glued, given->glued_count, "the number of glued cells",
                                      "the array of glued cells"))
    domain.glued.push_back({{triple_of(glued.first), triple_of(glued.cells)},
                            triple_of(glued.axis),
                            triple_of(glued.sign),
                            triple_of(glued.offset)});
  return domain;
}

box_mode mode_of(const char* given) { return from_name<box_mode>(text_or(given, "direct")); }

box_options options_of(const longshore_box_exchange_options* given) {
  if (given == nullptr) return {};
  check_reserved(given->reserved, "longshore_box_exchange_options");
  return {.mode = mode_of(given->mode)};
}

box_copy_options options_of(const longshore_box_copy_options* given) {
  if (given == nullptr) return {};
  check_reserved(given->reserved, "longshore_box_copy_options");
  return {.mode = mode_of(given->mode), .fills_halos = given->fills_halos != 0};
}

// Adds the memory of the program that holds the fields to `dependencies`.
field_list fields_from(const longshore_boxes& boxes, const longshore_box_field* fields, int count,
                       std::vector<const resource*>& dependencies) {
  if (count < 1) fail(errc::usage, "a plan of boxes for {} fields: use 1 or more", count);
  field_list list;
  for (const auto& given :
       array_from(fields, count, "the number of fields", "the array of fields")) {
    const element_form form = form_of(given.type, given.items, given.element_bytes);
    box_field_memory field{.element_bytes = form.bytes,
                           .type = form.type,
                           .widths = {triple_of(given.low), triple_of(given.high)},
                           .shared = triple_of(given.shared),
                           .boxes = {}};
    for (const auto& view : array_from(given.boxes, given.count, "the number of boxes of a field",
                                       "the array of a field's boxes")) {
      if (view.type != given.type || std::max(view.items, 1) != std::max(given.items, 1) ||
          view.element_bytes != given.element_bytes)
        fail(errc::usage,
             "the {} field, {} box of rank {}: the block has other elements than the field: give "
             "both the same type, element_bytes and items",
             detail::nth(list.memory.size()), detail::nth(field.boxes.size()),
             boxes.team().ranks.rank());
      field.boxes.push_back(memory_of(boxes.team(), view, 3, dependencies));
    }
    list.memory.push_back(std::move(field));
    list.given.push_back(given);
  }
  return list;
}

int start_update(longshore_box_exchange* plan, const longshore_part* part, bool waits,
                 std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](longshore_box_exchange& of) {
    of.plan.start_update(part_of(part), stream);
  });
}

int start_copy(longshore_box_copy* plan, bool waits, std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](longshore_box_copy& of) { of.plan.start(stream); });
}

const box_layout& layout_of(const longshore_boxes* boxes) {
  return existing(boxes, "the layout of boxes").layout;
}

bool has_box(const box_layout& layout, int box) {
  return box >= 0 && static_cast<std::size_t>(box) < layout.boxes().size();
}

}  // namespace

extern "C" {

int longshore_boxes_create(longshore_team* team, const struct longshore_box* mine, int count,
                           const struct longshore_boxes_options* options, longshore_boxes** boxes) {
  return guarded([&] {
    longshore_team& owner = checked(team);
    const auto [given, domain] = read_on_all_ranks(owner, "a layout of boxes", [&] {
      required(boxes, "the pointer for the layout of boxes") = nullptr;
      return std::pair(boxes_from(mine, count), domain_of(options));
    });
    *boxes = owner.keep(
        std::make_unique<longshore_boxes>(owner, box_layout(owner.ranks, given, domain)));
  });
}

int longshore_boxes_free(longshore_boxes* boxes) { return free_object(boxes); }

int longshore_boxes_count(const longshore_boxes* boxes) {
  return static_cast<int>(layout_of(boxes).mine().size());
}

int longshore_boxes_total(const longshore_boxes* boxes) {
  return static_cast<int>(layout_of(boxes).boxes().size());
}

int longshore_boxes_first(const longshore_boxes* boxes, int rank) {
  const box_layout& layout = layout_of(boxes);
  if (rank < 0 || rank >= layout.ranks().size()) return -1;
  return static_cast<int>(layout.first_box(rank));
}

int longshore_boxes_owner(const longshore_boxes* boxes, int box) {
  const box_layout& layout = layout_of(boxes);
  return has_box(layout, box) ? layout.owner(static_cast<std::size_t>(box)) : -1;
}

int longshore_boxes_get(const longshore_boxes* boxes, int box, struct longshore_box* found) {
  return guarded([&] {
    const box_layout& layout = checked(boxes, "the layout of boxes").layout;
    if (!has_box(layout, box))
      fail(errc::usage, "box {} of a layout of {} boxes: their numbers begin at 0", box,
           layout.boxes().size());
    const cell_box& cells = layout.boxes()[static_cast<std::size_t>(box)];
    auto& [first, extents] = required(found, "the pointer for the box");
    std::copy(cells.first.begin(), cells.first.end(), first);
    std::copy(cells.cells.begin(), cells.cells.end(), extents);
  });
}

int longshore_box_exchange_create(const longshore_boxes* boxes,
                                  const struct longshore_box_exchange_options* options,
                                  const struct longshore_box_field* fields, int count,
                                  longshore_box_exchange** plan) {
  return guarded([&] {
    longshore_team& owner = checked(boxes, "the layout of boxes").team();
    std::vector<const resource*> dependencies;
    auto [list, chosen] = read_on_all_ranks(owner, "a plan of boxes", [&] {
      required(plan, "the pointer for the plan") = nullptr;
      return std::pair(fields_from(*boxes, fields, count, dependencies), options_of(options));
    });
    *plan = owner.keep(std::make_unique<longshore_box_exchange>(*boxes, std::move(dependencies),
                                                                std::move(list), chosen));
  });
}

LONGSHORE_CALLS_THAT_END(box_exchange)
LONGSHORE_CALLS_THAT_COMBINE(box_exchange, accumulate, part)
LONGSHORE_CALLS_THAT_COMBINE(box_exchange, assemble, part)

int longshore_box_exchange_start_update(longshore_box_exchange* plan) {
  return start_update(plan, nullptr, false);
}
int longshore_box_exchange_update(longshore_box_exchange* plan) {
  return start_update(plan, nullptr, true);
}
int longshore_box_exchange_start_update_part(longshore_box_exchange* plan,
                                             const struct longshore_part* part) {
  return start_update(plan, part, false);
}
int longshore_box_exchange_update_part(longshore_box_exchange* plan,
                                       const struct longshore_part* part) {
  return start_update(plan, part, true);
}

int longshore_box_exchange_start_update_on(longshore_box_exchange* plan,
                                           const struct longshore_part* part, void* stream) {
  return start_update(plan, part, false, stream);
}

int longshore_box_exchange_neighbours(const longshore_box_exchange* plan) {
  return static_cast<int>(existing(plan, "the plan").plan.neighbours());
}

int64_t longshore_box_exchange_memory_bytes(const longshore_box_exchange* plan) {
  return static_cast<int64_t>(existing(plan, "the plan").plan.memory_bytes());
}

int longshore_box_exchange_moved(const longshore_box_exchange* plan, const char* operation,
                                 struct longshore_traffic* moved) {
  return guarded([&] {
    const auto which = from_name<box_operation>(text_or(operation, "update"));
    const traffic bytes = checked(plan, "the plan").plan.moved(which);
    required(moved, "the pointer for the traffic") = traffic_of(bytes);
  });
}

int longshore_box_copy_create(const longshore_boxes* from,
                              const struct longshore_box_field* from_fields,
                              const longshore_boxes* to,
                              const struct longshore_box_field* to_fields, int count,
                              const struct longshore_box_copy_options* options,
                              longshore_box_copy** plan) {
  return guarded([&] {
    longshore_team& owner = checked(from, "the layout of the source").team();
    std::vector<const resource*> dependencies;
    auto [source, target, chosen] = read_on_all_ranks(owner, "a copy of boxes", [&] {
      required(plan, "the pointer for the plan") = nullptr;
      checked(to, "the layout of the target");
      auto sources = fields_from(*from, from_fields, count, dependencies);
      return std::tuple(std::move(sources.memory),
                        fields_from(*to, to_fields, count, dependencies).memory,
                        options_of(options));
    });
    *plan = owner.keep(std::make_unique<longshore_box_copy>(
        owner, std::move(dependencies),
        box_copy(from->layout, std::move(source), to->layout, std::move(target), chosen)));
  });
}

LONGSHORE_CALLS_THAT_END(box_copy)

int longshore_box_copy_start(longshore_box_copy* plan) { return start_copy(plan, false); }
int longshore_box_copy_run(longshore_box_copy* plan) { return start_copy(plan, true); }

int longshore_box_copy_start_on(longshore_box_copy* plan, void* stream) {
  return start_copy(plan, false, stream);
}

void longshore_box_copy_moved(const longshore_box_copy* plan, struct longshore_traffic* moved) {
  *moved = traffic_of(existing(plan, "the plan").plan.moved());
}
}
