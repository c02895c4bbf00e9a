// A distributed array without its type: what the class Table and the functions on it call.
//
// Moving elements needs their size alone, so that tables are compiled for unsigned integers of four
// sizes, and updates are operations on their bits.
#pragma once

#include "../../c/word_operation.hpp"
#include "arrays.hpp"
#include "membership.hpp"
#include "table_distribution.hpp"

#include <longshore/gather/options.hpp>
#include <longshore/transport/team.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace longshore::python {

using bindings::operation;

/// What a plan is made for.
struct plan_key {
  gather_strategy strategy = gather_strategy::automatic;
  std::size_t buffer_items = 1024;
  int hops = 0;
  bool combine = false;
  operation how = operation::sum;  // of updates
  friend auto operator<=>(const plan_key&, const plan_key&) = default;
};

/// Memory of elements is that of the table's own type. Calls are collective as those of C++
/// (gather/gather.hpp, scatter.hpp, update.hpp); a plan is made when options are first met, and
/// kept.
class table : public shared_thing {
 public:
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual std::span<std::byte> local() = 0;
  [[nodiscard]] virtual int owner_of(std::size_t index) const = 0;
  /// Global indices of the elements of this rank.
  virtual void write_indices(std::int64_t* to) const = 0;
  /// The strategy that was used.
  virtual gather_strategy gather(const plan_key& key, std::span<const std::int64_t> indices,
                                 std::byte* out) = 0;
  virtual gather_strategy scatter(const plan_key& key, std::span<const std::int64_t> indices,
                                  const std::byte* values) = 0;
  /// `values`: one for each index, or (common) one for all. `what`: how errors call it, a literal.
  virtual gather_strategy update(const plan_key& key, std::span<const std::int64_t> indices,
                                 const std::byte* values, bool common, const char* what) = 0;
};

/// Collective, as dist_array. Elements of 1 and 2 bytes; of 4 and 8 bytes.
[[nodiscard]] std::shared_ptr<table> make_narrow_table(team& ranks, std::size_t size, element type,
                                                       table_distribution where);
[[nodiscard]] std::shared_ptr<table> make_wide_table(team& ranks, std::size_t size, element type,
                                                     table_distribution where);

}  // namespace longshore::python
