// Prepares strided copies of the fields of a pair of boxes: one for all fields that are alike.
#include <longshore/exchange/detail/elements/element_pairs.hpp>

#include <longshore/core/bytes.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::detail {
namespace {

// If the extent along x is at least this, the innermost loop runs along x, even if another extent
// is larger.
constexpr std::size_t long_enough = 8;

// Returns the elements of `set` as a box. A list is packed, with the extents of `like`.
strided_box box_of(const element_set& set, const bound_field& field, std::size_t element_bytes,
                   const element_box& like) {
  strided_box box{nullptr, element_bytes, like.extents, {}};
  const auto* const own = set.box();
  if (own == nullptr) {
    assert(set.list().is_contiguous());
    return box.contiguous_at(nullptr);
  }
  for (int d = 0; d < 3; ++d) box.strides_bytes[d] = own->strides[d] * field.stride_bytes;
  return box;
}

std::ptrdiff_t offset_of(const element_set& set, const bound_field& field) {
  const auto* const box = set.box();
  return (box != nullptr ? box->first : static_cast<std::ptrdiff_t>(set.list().first())) *
         field.stride_bytes;
}

index_list placed(const index_list& list, const bound_field& field) {
  if (field.places == nullptr) return list;
  auto indices = list.to_vector();
  for (auto& index : indices) index = field.places[index];
  return index_list(std::move(indices));
}

}  // namespace

element_pairs::element_pairs(const element_set& to, const bound_fields& to_fields,
                             const element_set& from, const bound_fields& from_fields,
                             copy_stores stores)
    : stores_(stores) {
  assert(to.size() == from.size() && to_fields.size() == from_fields.size());
  if (to.box() == nullptr && from.box() == nullptr) {
    const auto has_places = [](const bound_field& field) { return field.places != nullptr; };
    const bool have_places = std::any_of(to_fields.begin(), to_fields.end(), has_places) ||
                             std::any_of(from_fields.begin(), from_fields.end(), has_places);
    for (std::size_t k = 0; k < (have_places ? to_fields.size() : 1); ++k)
      lists_.emplace_back(placed(to.list(), to_fields[k]), placed(from.list(), from_fields[k]));
    return;
  }
  const element_box& like = to.box() != nullptr ? *to.box() : *from.box();
  assert(from.box() == nullptr || like.extents == from.box()->extents);
  for (std::size_t k = 1; k < to_fields.size(); ++k)
    if (to_fields[k].element_bytes != to_fields[0].element_bytes ||
        to_fields[k].stride_bytes != to_fields[0].stride_bytes ||
        from_fields[k].stride_bytes != from_fields[0].stride_bytes)
      copy_step_ = 1;
  const std::size_t copies =
      copy_step_ == 1 ? to_fields.size() : std::min<std::size_t>(to_fields.size(), 1);
  copies_.reserve(copies);
  for (std::size_t k = 0; k < copies; ++k) {
    const std::size_t bytes = to_fields[k].element_bytes;
    const two_boxes boxes{box_of(to, to_fields[k], bytes, like),
                          box_of(from, from_fields[k], bytes, like)};
    copies_.push_back({offset_of(to, to_fields[k]), offset_of(from, from_fields[k]),
                       strided_copy(boxes.to, boxes.from, stores), boxes});
    const auto& copy = copies_.back().prepared;
    lines_ += static_cast<double>(to_fields.size() / copies) *
              copy.line_count(1 + static_cast<double>(copy.run_bytes()) / cache_line_bytes);
  }
}

element_pairs::two_boxes element_pairs::boxes(std::size_t k, const element_memory& to,
                                              const element_memory& from) const noexcept {
  const auto& copy = box(k);
  auto placed = copy.boxes;
  placed.to.first = to.data + copy.to_offset;
  placed.from.first = from.data + copy.from_offset;
  return placed;
}

void element_pairs::combine(std::size_t k, const element_memory& to, const element_memory& from,
                            batch_function loop, const void* op) const {
  if (copies_.empty()) {
    list(k).combine(to, from, loop, op);
    return;
  }
  const auto [to_box, from_box] = boxes(k, to, from);
  const auto& extents = to_box.extents;
  // The innermost loop runs along x, unless the box is thin there. The order does not matter for
  // the result, because each element of `to` has one pair.
  std::size_t inner = 0;
  if (extents[0] < long_enough)
    inner = static_cast<std::size_t>(std::max_element(extents.begin(), extents.end()) -
                                     extents.begin());
  const std::size_t middle = inner == 0 ? 1 : 0, outer = 3 - inner - middle;
  element_batch batch{.to_stride_bytes = to_box.strides_bytes[inner],
                      .from_stride_bytes = from_box.strides_bytes[inner],
                      .count = extents[inner]};
  const auto at = [](std::size_t i, std::ptrdiff_t stride) {
    return static_cast<std::ptrdiff_t>(i) * stride;
  };
  for (std::size_t o = 0; o < extents[outer]; ++o)
    for (std::size_t m = 0; m < extents[middle]; ++m) {
      batch.to =
          to_box.first + at(o, to_box.strides_bytes[outer]) + at(m, to_box.strides_bytes[middle]);
      batch.from = from_box.first + at(o, from_box.strides_bytes[outer]) +
                   at(m, from_box.strides_bytes[middle]);
      loop(op, batch);
    }
}

}  // namespace longshore::detail
