// scatter: table[indices[i]] = values[i], for a table that is distributed over all ranks and for
// arbitrary indices. scatter_plan is made for a table once and then called often.
#pragma once

#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/table_scatter.hpp>

#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace longshore {

/// Scatters into one table. The plan holds the buffers of its strategy; calls allocate as little as
/// those of gather_plan.
///
///     longshore::scatter_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, values);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class scatter_plan : public detail::plan_handle<
                         const typename detail::compiled_copy_types<T, Distribution>::element> {
 public:
  /// The reason why `strategy` cannot be used for elements of type T, or nothing. `all_reachable`:
  /// whether every rank can store to the memory of every other rank.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_scatter(strategy, all_reachable, sizeof(T));
  }

  /// Collective. Options and errors are those of gather_plan.
  explicit scatter_plan(dist_array<T, Distribution>& table, scatter_options options = {})
      : scatter_plan::plan_handle(detail::plan_scatter(view(table), options)) {}

  /// Collective. table[indices[i]] = values[i] for all i. Indices are global; each rank passes any
  /// number of indices. If several values go to one element, the element gets one of these values,
  /// never a mixture of two, but not always the last. The call contains no barrier: no rank may
  /// access the elements before the next barrier.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range. The other ranks then throw
  /// errc::peer_failed, except with strategies agp and direct. After an error, part of the table
  /// may have been written. The plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    this->plan_->run({"scatter", indices,
                      std::span(reinterpret_cast<const element*>(values.data()), values.size())});
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
