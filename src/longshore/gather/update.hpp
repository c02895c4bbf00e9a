// update and histogram: table[indices[i]] = op(table[indices[i]], value), for a table that is
// distributed over all ranks and for arbitrary indices. No update is lost, however many ranks
// update one element.
#pragma once

#include <longshore/gather/detail/plan_base.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/op.hpp>
#include <longshore/gather/options.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace longshore {
namespace detail {

/// The interface behind update_plan; update_dispatch implements it.
template <trivially_copyable T>
class update_plan_base : public plan_base {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<const T> values) = 0;
  virtual void run(std::span<const std::int64_t> indices, const T& amount) = 0;
  /// The name of the operation in error messages: a string literal.
  void set_name(const char* name) noexcept { name_ = name; }

 protected:
  using plan_base::plan_base;
  const char* name_ = "update";
};

/// Collective. Makes an update_dispatch.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
[[nodiscard]] std::unique_ptr<update_plan_base<T>> plan_update(
    const table_view<T, Distribution>& table, const Op& op, const update_options& options);

/// The unsigned type for an integer type: both have the same bits after an addition.
template <class T>
struct unsigned_addend {
  using type = T;
};
template <std::integral T>
requires(!std::same_as<T, bool>) struct unsigned_addend<T> {
  using type = std::make_unsigned_t<T>;
};

/// Whether the library has compiled loops that add such elements, and the types they work on.
template <class T, class Distribution, class Op>
inline constexpr bool has_compiled_add =
    is_common_distribution<Distribution>&& std::same_as<Op, op::add> &&
    (std::same_as<T, float> || std::same_as<T, double> ||
     std::same_as<typename unsigned_addend<T>::type, std::uint32_t> ||
     std::same_as<typename unsigned_addend<T>::type, std::uint64_t>);
template <class T, class Distribution, class Op>
using erased_addend =
    std::conditional_t<has_compiled_add<T, Distribution, Op>, typename unsigned_addend<T>::type, T>;
template <class T, class Distribution, class Op>
using erased_add_distribution =
    std::conditional_t<has_compiled_add<T, Distribution, Op>, any_distribution, Distribution>;

// Compiled in the library.
extern template std::unique_ptr<update_plan_base<float>> plan_update(
    const table_view<float, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<update_plan_base<double>> plan_update(
    const table_view<double, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<update_plan_base<std::uint32_t>> plan_update(
    const table_view<std::uint32_t, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<update_plan_base<std::uint64_t>> plan_update(
    const table_view<std::uint64_t, any_distribution>&, const op::add&, const update_options&);

}  // namespace detail

/// Updates of one table with one operation and strategy, made once and used often. A call allocates
/// nothing, with one exception: with strategy auto, if the choice depends on the number of
/// requests, the first call of each size does.
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
                        detail::update_plan_base<detail::erased_addend<T, Distribution, Op>>> {
 public:
  /// Why `strategy` cannot be used with such elements and this operation, or nothing.
  /// `all_reachable`: whether every rank can load from and store to the memory of every other rank.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_update(
        strategy, all_reachable, sizeof(T),
        std::integral<T> && sizeof(T) == sizeof(std::int64_t) && std::same_as<Op, op::add>);
  }

  /// Collective; options are the same on all ranks. Throws, on all ranks: errc::unsupported if the
  /// strategy is not available here, errc::usage if buffer_items is 0, errc::out_of_memory.
  /// Strategy auto measures for a fraction of a second if the profile of this machine has nothing
  /// for this layout. It measures histograms, that is updates by one constant.
  explicit update_plan(dist_array<T, Distribution>& table, Op op, update_options options = {})
      : update_plan::plan_handle(detail::plan_update(view(table), op, options)) {}
  explicit update_plan(dist_array<T, Distribution>& table,
                       update_options options = {}) requires std::default_initializable<Op>
      : update_plan(table, Op{}, options) {}

  /// table[indices[i]] = op(table[indices[i]], values[i]) for all i, in any order. Indices are
  /// global; each rank gives any number of them. Collective. The call makes no barrier: all ranks
  /// may read the elements after the next barrier, and nobody may access them before.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range; unless the strategy is
  /// agp, the other ranks then throw errc::peer_failed. Part of the table may have been updated.
  /// The plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    this->plan_->run(indices,
                     std::span(reinterpret_cast<const element*>(values.data()), values.size()));
  }

  /// table[indices[i]] = op(table[indices[i]], amount) for all i. As above, but the value is not
  /// sent with each index. Ranks may give different amounts.
  void operator()(std::span<const std::int64_t> indices, const T& amount) {
    this->plan_->run(indices, reinterpret_cast<const element&>(amount));
  }

  /// Sets the name of the operation in error messages: a string literal, such as "histogram".
  void set_name(const char* name) noexcept { this->plan_->set_name(name); }

 private:
  using element = detail::erased_addend<T, Distribution, Op>;
  using view = detail::table_view<element, detail::erased_add_distribution<T, Distribution, Op>>;
};

template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&) -> update_plan<T, Distribution>;
template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&, update_options) -> update_plan<T, Distribution>;

/// Collective. One update with a plan of its own. For several updates an update_plan is faster.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
void update(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<const T>> values, Op op, update_options options = {}) {
  options.expected_requests = indices.size();
  update_plan<T, Distribution, Op> plan(table, op, options);
  plan(indices, values);
}

/// Collective. Counts: table[indices[i]] += amount. For several histograms an update_plan is
/// faster.
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

#include <longshore/gather/detail/update_dispatch.hpp>
