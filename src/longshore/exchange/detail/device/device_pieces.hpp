// Turns elements of messages into the pieces and sums that a device launches.
#pragma once

#include <longshore/device/driver.hpp>
#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/detail/bound_fields.hpp>
#include <longshore/exchange/detail/elements/element_set.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace longshore::detail {

/// Elements of one field of a memory.
struct field_elements {
  const element_set& set;
  const bound_field& field;
};

/// Collects pieces. Their lists live as long as this object.
class piece_collector {
 public:
  /// Adds the copy of all elements of `from` to those of `to`. The elements are two boxes of equal
  /// extents, two lists, or a box and contiguous elements.
  void add(const field_elements& to, const field_elements& from);
  [[nodiscard]] const std::vector<device_piece>& pieces() const noexcept { return pieces_; }

 private:
  [[nodiscard]] const std::uint32_t* keep(std::vector<std::uint32_t> list);
  std::vector<device_piece> pieces_;
  std::deque<std::vector<std::uint32_t>> lists_;
};

/// Returns the sums of pieces of numbers, in the order of the pieces.
[[nodiscard]] device_sums sums_of(const std::vector<device_piece>& pieces);

/// Returns how a device combines the elements of a field, or nothing if it cannot.
[[nodiscard]] std::optional<device_operation> operation_on_device(const element_type& type,
                                                                  const combine_op& op);

}  // namespace longshore::detail
