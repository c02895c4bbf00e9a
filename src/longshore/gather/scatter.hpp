// scatter: table[indices[i]] = values[i], for a table that is distributed over all ranks and for
// arbitrary indices. scatter_plan is made for a table once and then called often.
#pragma once

#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/plan_implementation.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/options.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace longshore {
namespace detail {

/// The interface to which scatter_plan forwards its calls. scatter_dispatch implements the
/// interface.
template <trivially_copyable T>
class scatter_implementation : public plan_implementation {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<const T> values) = 0;

 protected:
  using plan_implementation::plan_implementation;
};

/// Collective. Decides the strategy, and makes the object to which a scatter_plan forwards its
/// calls.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<scatter_implementation<T>> plan_scatter(
    const table_view<T, Distribution>& table, const scatter_options& options);

// The library contains the loops for elements of 4 and 8 bytes, so users' code does not compile
// them again. compiled_loops.hpp decides which tables use these loops.
extern template std::unique_ptr<scatter_implementation<word32>> plan_scatter(
    const table_view<word32, any_distribution>&, const scatter_options&);
extern template std::unique_ptr<scatter_implementation<word64>> plan_scatter(
    const table_view<word64, any_distribution>&, const scatter_options&);

}  // namespace detail

/// Scatters into one table. The plan holds the buffers of its strategy, so calls allocate nothing.
/// There is one exception: strategy auto may choose one strategy for calls with few requests and
/// another one for calls with many. The first call that uses a strategy then makes the buffers of
/// this strategy.
///
///     longshore::scatter_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, values);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class scatter_plan : public detail::plan_handle<detail::scatter_implementation<
                         typename detail::compiled_copy_types<T, Distribution>::element>> {
 public:
  /// The reason why `strategy` cannot be used for elements of type T, or nothing. `all_reachable`:
  /// whether every rank can store to the memory of every other rank.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_scatter(strategy, all_reachable, sizeof(T));
  }

  /// Collective; all ranks pass the same options, except expected_requests. Throws, on all ranks:
  /// errc::unsupported if the strategy is not available here, or errc::out_of_memory.
  ///
  /// Strategy auto reads earlier measurements from a file, the profile (LONGSHORE_PROFILE). If the
  /// file does not have this layout of ranks and nodes, auto measures for a fraction of a second.
  explicit scatter_plan(dist_array<T, Distribution>& table, scatter_options options = {})
      : scatter_plan::plan_handle(detail::plan_scatter(view(table), options)) {}

  /// Collective. table[indices[i]] = values[i] for all i. Indices are global; each rank passes any
  /// number of indices. If several values go to one element, the element gets one of these values,
  /// never a mixture of two, but not always the last. The call contains no barrier: no rank may
  /// access the elements before the next barrier.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range. The other ranks then throw
  /// errc::peer_failed, except with strategies agp and direct. Part of the table may have been
  /// written, and the plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    this->plan_->run(indices, {reinterpret_cast<const element*>(values.data()), values.size()});
  }

 private:
  using loop = detail::compiled_copy_types<T, Distribution>;
  using element = typename loop::element;
  using view = detail::table_view<element, typename loop::distribution>;
};

/// Collective. Makes a plan for a single scatter. For several scatters a scatter_plan is faster.
template <trivially_copyable T, distribution Distribution>
void scatter(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
             std::type_identity_t<std::span<const T>> values, scatter_options options = {}) {
  options.expected_requests = indices.size();
  scatter_plan<T, Distribution> plan(table, options);
  plan(indices, values);
}

}  // namespace longshore

#include <longshore/gather/detail/scatter_dispatch.hpp>
