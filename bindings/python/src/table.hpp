// A distributed array for the class Table, with an element type that is known only at run time.
//
// Moving elements depends only on their size. So tables are compiled for unsigned integers of four
// sizes, and updates are operations on the bits of elements.
#pragma once

#include "../../c/word_operation.hpp"
#include "arrays.hpp"
#include "table_distribution.hpp"
#include "team_owner.hpp"

#include <longshore/gather/options.hpp>
#include <longshore/transport/team.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace longshore::python {

using bindings::operation;

/// The options of a plan.
struct plan_key {
  gather_strategy strategy = gather_strategy::automatic;
  std::size_t buffer_items = 0;
  int hops = 0;
  bool combine = false;
  operation update = operation::sum;  // for updates only
  friend auto operator<=>(const plan_key&, const plan_key&) = default;
};

/// Pointers to bytes point to elements of the table's type. Calls are collective if the calls of
/// C++ are (gather/gather.hpp, scatter.hpp, update.hpp). A plan is made when its options first
/// occur, and kept.
class table : public collective_object {
 public:
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::span<std::byte> local() = 0;
  [[nodiscard]] virtual int owner_of(std::size_t index) const = 0;
  /// Global indices of the elements of this rank.
  virtual void write_indices(std::int64_t* to) const = 0;
  // gather, scatter and update return the strategy in use.
  virtual gather_strategy gather(const plan_key& key, std::span<const std::int64_t> indices,
                                 std::byte* out) = 0;
  virtual gather_strategy scatter(const plan_key& key, std::span<const std::int64_t> indices,
                                  const std::byte* values) = 0;
  /// `values`: a value for each index, or one value for all indices if `common`. `what`: the name
  /// of the call in errors. REQUIRES: `what` is a string literal.
  virtual gather_strategy update(const plan_key& key, std::span<const std::int64_t> indices,
                                 const std::byte* values, bool common, const char* what) = 0;
};

/// Collective. Narrow elements have 1 or 2 bytes, wide elements 4 or 8 bytes.
[[nodiscard]] std::shared_ptr<table> make_narrow_table(team& ranks, std::size_t size, element type,
                                                       table_distribution where);
[[nodiscard]] std::shared_ptr<table> make_wide_table(team& ranks, std::size_t size, element type,
                                                     table_distribution where);

}  // namespace longshore::python
