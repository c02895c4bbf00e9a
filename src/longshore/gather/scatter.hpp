// scatter: table[indices[i]] = values[i], where the table is spread over all ranks and the indices
// are any.
#pragma once

#include <longshore/gather/detail/planned.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/gather/options.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace longshore {
namespace detail {

template <trivially_copyable T>
class planned_scatter : public planned {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<const T> values) = 0;

 protected:
  using planned::planned;
};

/// Collective. Strategies are those of scatter_by_strategy.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<planned_scatter<T>> plan_scatter(
    const table_parts<T, Distribution>& table, const scatter_options& options);

// Compiled in the library.
extern template std::unique_ptr<planned_scatter<word32>> plan_scatter(
    const table_parts<word32, any_distribution>&, const scatter_options&);
extern template std::unique_ptr<planned_scatter<word64>> plan_scatter(
    const table_parts<word64, any_distribution>&, const scatter_options&);

}  // namespace detail

/// What scatters into one table need, made once and used often: nothing is allocated while it is
/// used (by strategy auto, where it depends on the number of requests, when a size is first met).
///
///     longshore::scatter_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, values);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class scatter_plan {
 public:
  /// Why `strategy` cannot be used with such elements, or nothing. `all_reachable`: whether every
  /// rank can store to the memory of every other.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_scatter(strategy, all_reachable, sizeof(T));
  }

  /// Collective; options are the same on all ranks. Throws, on all ranks, errc::unsupported for a
  /// strategy that is not there or not possible here, errc::usage for buffers of no items,
  /// errc::out_of_memory. Strategy auto measures for a part of a second in a layout that the
  /// profile of this machine does not have yet.
  explicit scatter_plan(dist_array<T, Distribution>& table, scatter_options options = {})
      : plan_(detail::plan_scatter(parts(table), options)) {}

  /// table[indices[i]] = values[i] for all i; indices are global, any number of them, different on
  /// each rank. Of two values for one element one wins, whole; not always the later one.
  /// Collective. The elements may be read by all ranks after the barrier that follows (none is made
  /// here); nobody may touch them before. Throws errc::usage when the sizes differ or an index is
  /// out of range (then, unless the strategy is agp or direct, errc::peer_failed on the other
  /// ranks); the plan can be used again, the table may be written in part.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    plan_->run(indices, {reinterpret_cast<const element*>(values.data()), values.size()});
  }

  /// The strategy in use: what automatic has become, for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The same with size of buffers and hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return plan_->choice(); }
  /// All choices, and why.
  [[nodiscard]] const gather_decision& decision() const noexcept { return plan_->decision(); }
  /// What this rank moved in the last call: payload is the values; offsets count as wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return plan_->moved(); }
  /// What happened on this rank since the plan was made: messages and their fill by hop, latencies,
  /// waits.
  [[nodiscard]] exchange_report what_happened() const { return plan_->what_happened(); }

 private:
  using element = detail::moved_element<T, Distribution>;
  using parts = detail::table_parts<element, detail::moved_distribution<T, Distribution>>;
  std::unique_ptr<detail::planned_scatter<element>> plan_;
};

/// Collective. One scatter with a plan of its own; see scatter_plan, which is better where more
/// than one follows.
template <trivially_copyable T, distribution Distribution>
void scatter(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
             std::type_identity_t<std::span<const T>> values, scatter_options options = {}) {
  options.expected_requests = indices.size();
  scatter_plan<T, Distribution> plan(table, options);
  plan(indices, values);
}

}  // namespace longshore

#include <longshore/gather/detail/scatter_by_strategy.hpp>
