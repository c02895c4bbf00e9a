// A distributed array whose element type is known at run time only, for the class Table.
//
// Moving elements depends on their size alone. Tables are therefore compiled for unsigned integers
// of four sizes, and updates are operations on their bits.
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
  std::size_t buffer_items = 1024;
  int hops = 0;
  bool combine = false;
  operation how = operation::sum;  // for updates only
  friend auto operator<=>(const plan_key&, const plan_key&) = default;
};

/// Pointers to elements point to the element type of the table. The calls are collective like those
/// of C++ (gather/gather.hpp, scatter.hpp, update.hpp). A plan is made when its options first
/// occur, and kept.
class table : public collective_object {
 public:
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::span<std::byte> local() = 0;
  [[nodiscard]] virtual int owner_of(std::size_t index) const = 0;
  /// Global indices of the elements of this rank.
  virtual void write_indices(std::int64_t* to) const = 0;
  /// These three return the strategy in use.
  virtual gather_strategy gather(const plan_key& key, std::span<const std::int64_t> indices,
                                 std::byte* out) = 0;
  virtual gather_strategy scatter(const plan_key& key, std::span<const std::int64_t> indices,
                                  const std::byte* values) = 0;
  /// `values`: one for each index, or one for all if `common`. `what`: the name of the call in
  /// errors; a string literal.
  virtual gather_strategy update(const plan_key& key, std::span<const std::int64_t> indices,
                                 const std::byte* values, bool common, const char* what) = 0;
};

/// Collective, like the constructor of dist_array. Narrow elements have 1 or 2 bytes, wide ones 4
/// or 8.
[[nodiscard]] std::shared_ptr<table> make_narrow_table(team& ranks, std::size_t size, element type,
                                                       table_distribution where);
[[nodiscard]] std::shared_ptr<table> make_wide_table(team& ranks, std::size_t size, element type,
                                                     table_distribution where);

}  // namespace longshore::python
