// update and histogram: table[indices[i]] = op(table[indices[i]], value), where the table is spread
// over all ranks and the indices are any; nothing is lost however many ranks meet at one element.
#pragma once

#include <longshore/gather/detail/planned.hpp>
#include <longshore/gather/detail/table_parts.hpp>
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

template <trivially_copyable T>
class planned_update : public planned {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<const T> values) = 0;
  virtual void run(std::span<const std::int64_t> indices, const T& amount) = 0;
  /// How errors call what the plan does: a literal.
  void set_name(const char* name) noexcept { name_ = name; }

 protected:
  using planned::planned;
  const char* name_ = "update";
};

/// Collective. Strategies are those of update_by_strategy.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
[[nodiscard]] std::unique_ptr<planned_update<T>> plan_update(
    const table_parts<T, Distribution>& table, const Op& op, const update_options& options);

/// Sums of integers have no sign: the bits are those of unsigned ones.
template <class T>
struct same_sums {
  using type = T;
};
template <std::integral T>
requires(!std::same_as<T, bool>) struct same_sums<T> {
  using type = std::make_unsigned_t<T>;
};

/// Whether the library has loops that add up such elements, and what they take them for.
template <class T, class Distribution, class Op>
inline constexpr bool is_added_in_library =
    is_common_distribution<Distribution>&& std::same_as<Op, op::add> &&
    (std::same_as<T, float> || std::same_as<T, double> ||
     std::same_as<typename same_sums<T>::type, std::uint32_t> ||
     std::same_as<typename same_sums<T>::type, std::uint64_t>);
template <class T, class Distribution, class Op>
using updated_element =
    std::conditional_t<is_added_in_library<T, Distribution, Op>, typename same_sums<T>::type, T>;
template <class T, class Distribution, class Op>
using updated_distribution =
    std::conditional_t<is_added_in_library<T, Distribution, Op>, any_distribution, Distribution>;

// Compiled in the library.
extern template std::unique_ptr<planned_update<float>> plan_update(
    const table_parts<float, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<planned_update<double>> plan_update(
    const table_parts<double, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<planned_update<std::uint32_t>> plan_update(
    const table_parts<std::uint32_t, any_distribution>&, const op::add&, const update_options&);
extern template std::unique_ptr<planned_update<std::uint64_t>> plan_update(
    const table_parts<std::uint64_t, any_distribution>&, const op::add&, const update_options&);

}  // namespace detail

/// What updates of one table need, made once and used often: nothing is allocated while it is used
/// (by strategy auto, where it depends on the number of requests, when a size is first met).
///
///     longshore::update_plan largest(table, longshore::op::max{});
///     largest(indices, values);
///     longshore::update_plan count(table);  // adds
///     count(indices, 1);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add>
class update_plan {
 public:
  /// Why `strategy` cannot be used with such elements and this operation, or nothing.
  /// `all_reachable`: whether every rank can load from and store to the memory of every other.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_update(
        strategy, all_reachable, sizeof(T),
        std::integral<T> && sizeof(T) == sizeof(std::int64_t) && std::same_as<Op, op::add>);
  }

  /// Collective; options are the same on all ranks. Throws, on all ranks, errc::unsupported for a
  /// strategy that is not there or not possible here, errc::usage for buffers of no items,
  /// errc::out_of_memory. Strategy auto measures for a part of a second in a layout that the
  /// profile of this machine does not have yet: updates by one value for all, since these are
  /// histograms.
  explicit update_plan(dist_array<T, Distribution>& table, Op op, update_options options = {})
      : plan_(detail::plan_update(parts(table), op, options)) {}
  explicit update_plan(dist_array<T, Distribution>& table,
                       update_options options = {}) requires std::default_initializable<Op>
      : update_plan(table, Op{}, options) {}

  /// table[indices[i]] = op(table[indices[i]], values[i]) for all i, in any order; indices are
  /// global, any number of them, different on each rank. Collective. The elements may be read by
  /// all ranks after the barrier that follows (none is made here); nobody may touch them before.
  /// Throws errc::usage when the sizes differ or an index is out of range (then, unless the
  /// strategy is agp, errc::peer_failed on the other ranks); the plan can be used again, the table
  /// may be updated in part.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    plan_->run(indices, std::span(reinterpret_cast<const element*>(values.data()), values.size()));
  }

  /// table[indices[i]] = op(table[indices[i]], amount) for all i: the same with one value, which
  /// then need not travel with each index. The amount may differ between ranks.
  void operator()(std::span<const std::int64_t> indices, const T& amount) {
    plan_->run(indices, reinterpret_cast<const element&>(amount));
  }

  /// How errors call what the plan does from now on: a literal, such as "histogram".
  void set_name(const char* name) noexcept { plan_->set_name(name); }

  /// The strategy in use: what automatic has become, for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The same with size of buffers and hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return plan_->choice(); }
  /// All choices, and why.
  [[nodiscard]] const gather_decision& decision() const noexcept { return plan_->decision(); }
  /// What this rank moved in the last call: payload is the values, or the indices where the value
  /// is one constant.
  [[nodiscard]] const traffic& moved() const noexcept { return plan_->moved(); }
  /// What happened on this rank since the plan was made: messages and their fill by hop, latencies,
  /// waits.
  [[nodiscard]] exchange_report what_happened() const { return plan_->what_happened(); }

 private:
  using element = detail::updated_element<T, Distribution, Op>;
  using parts = detail::table_parts<element, detail::updated_distribution<T, Distribution, Op>>;
  std::unique_ptr<detail::planned_update<element>> plan_;
};

template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&) -> update_plan<T, Distribution>;
template <trivially_copyable T, distribution Distribution>
update_plan(dist_array<T, Distribution>&, update_options) -> update_plan<T, Distribution>;

/// Collective. One update with a plan of its own; see update_plan, which is better where more than
/// one follows.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op>
void update(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<const T>> values, Op op, update_options options = {}) {
  options.expected_requests = indices.size();
  update_plan<T, Distribution, Op> plan(table, op, options);
  plan(indices, values);
}

/// Collective. Counts: table[indices[i]] += amount; see update_plan, which is better where more
/// than one follows.
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

#include <longshore/gather/detail/update_by_strategy.hpp>
