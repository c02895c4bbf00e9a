// update and histogram: table[indices[i]] = op(table[indices[i]], value), for a table that is
// distributed over all ranks and for arbitrary indices. No update is lost if several ranks update
// one element. update_plan is made for a table once and then called often.
#pragma once

#include <longshore/core/op.hpp>
#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/table_update.hpp>

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace longshore {

/// Updates one table with one operation. The plan holds the buffers of its strategy; calls allocate
/// as little as those of gather_plan.
///
///     longshore::update_plan largest(table, longshore::op::max{});
///     largest(indices, values);
///     longshore::update_plan count(table);  // adds
///     count(indices, 1);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add>
class update_plan : public detail::plan_handle<
                        const typename detail::compiled_add_types<T, Distribution, Op>::element> {
 public:
  /// The reason why `strategy` cannot be used for elements of type T and this operation, or
  /// nothing. `all_reachable`: whether every rank can load from and store to the memory of every
  /// other rank.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_update(strategy, all_reachable, sizeof(T), detail::is_fetch_add<T, Op>);
  }

  /// Collective. Options and errors are those of gather_plan. Strategy auto measures histograms,
  /// that is updates by one constant.
  explicit update_plan(dist_array<T, Distribution>& table, Op op, update_options options = {})
      : update_plan::plan_handle(detail::plan_update(view(table), op, options)) {}
  explicit update_plan(dist_array<T, Distribution>& table,
                       update_options options = {}) requires std::default_initializable<Op>
      : update_plan(table, Op{}, options) {}

  /// Collective. table[indices[i]] = op(table[indices[i]], values[i]) for all i, in any order.
  /// Indices are global; each rank passes any number of indices. The call contains no barrier: no
  /// rank may access the elements before the next barrier.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range. The other ranks then throw
  /// errc::peer_failed, except with strategy agp. Part of the table may have been updated, and the
  /// plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    this->plan_->run({name_, indices,
                      std::span(reinterpret_cast<const element*>(values.data()), values.size())});
  }

  /// Like the call with values, but with one amount for all indices of this rank. The amount is not
  /// sent with each index. Ranks may pass different amounts.
  void operator()(std::span<const std::int64_t> indices, const T& amount) {
    this->plan_->run({.operation = name_,
                      .indices = indices,
                      .values = std::span(reinterpret_cast<const element*>(&amount), 1),
                      .has_one_value = true});
  }

  /// Sets the name of the operation in error messages: a string literal, such as "histogram".
  void set_name(const char* name) noexcept { name_ = name; }

 private:
  using loop = detail::compiled_add_types<T, Distribution, Op>;
  using element = typename loop::element;
  using view = detail::table_view<element, typename loop::distribution>;

  const char* name_ = "update";
};

template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&) -> update_plan<T, Distribution>;
template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&, update_options) -> update_plan<T, Distribution>;

/// Collective. Makes a plan for a single update. For several updates an update_plan is faster.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
void update(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<const T>> values, Op op, update_options options = {}) {
  options.expected_requests = indices.size();
  update_plan<T, Distribution, Op> plan(table, op, options);
  plan(indices, values);
}

/// Collective. table[indices[i]] += amount. Makes a plan for a single histogram. For several
/// histograms an update_plan is faster.
template <trivially_copyable T, distribution Distribution>
requires update_operation<op::add, T>
void histogram(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
               std::type_identity_t<T> amount = T{1}, update_options options = {}) {
  options.expected_requests = indices.size();
  update_plan<T, Distribution> plan(table, options);
  plan.set_name("histogram");
  plan(indices, amount);
}

}  // namespace longshore
