// scatter: table[indices[i]] = values[i], for a table that is distributed over all ranks and for
// arbitrary indices.
#pragma once

#include <longshore/gather/detail/plan_base.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/options.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

namespace longshore {
namespace detail {

/// The interface behind scatter_plan; scatter_dispatch implements it.
template <trivially_copyable T>
class scatter_plan_base : public plan_base {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<const T> values) = 0;

 protected:
  using plan_base::plan_base;
};

/// Collective. Makes a scatter_dispatch.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<scatter_plan_base<T>> plan_scatter(
    const table_view<T, Distribution>& table, const scatter_options& options);

// Compiled in the library.
extern template std::unique_ptr<scatter_plan_base<word32>> plan_scatter(
    const table_view<word32, any_distribution>&, const scatter_options&);
extern template std::unique_ptr<scatter_plan_base<word64>> plan_scatter(
    const table_view<word64, any_distribution>&, const scatter_options&);

}  // namespace detail

/// A scatter into one table with one strategy, made once and used often. A call allocates nothing,
/// with one exception: with strategy auto, if the choice depends on the number of requests, the
/// first call of each size does.
///
///     longshore::scatter_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, values);
///     team.barrier();  // now every rank sees the whole table
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class scatter_plan : public detail::plan_handle<
                         detail::scatter_plan_base<detail::erased_element<T, Distribution>>> {
 public:
  /// Why `strategy` cannot be used with such elements, or nothing. `all_reachable`: whether every
  /// rank can store to the memory of every other rank.
  [[nodiscard]] static std::optional<std::string> why_not(gather_strategy strategy,
                                                          bool all_reachable) {
    return detail::why_not_scatter(strategy, all_reachable, sizeof(T));
  }

  /// Collective; options are the same on all ranks. Throws, on all ranks: errc::unsupported if the
  /// strategy is not available here, errc::usage if buffer_items is 0, errc::out_of_memory.
  /// Strategy auto measures for a fraction of a second if the profile of this machine has nothing
  /// for this layout.
  explicit scatter_plan(dist_array<T, Distribution>& table, scatter_options options = {})
      : scatter_plan::plan_handle(detail::plan_scatter(view(table), options)) {}

  /// table[indices[i]] = values[i] for all i. Indices are global; each rank gives any number of
  /// them. If several values go to one element, the element gets one of them whole, not always the
  /// last. Collective. The call makes no barrier: all ranks may read the elements after the next
  /// barrier, and nobody may access them before.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range; unless the strategy is agp
  /// or direct, the other ranks then throw errc::peer_failed. Part of the table may have been
  /// written. The plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<const T> values) {
    this->plan_->run(indices, {reinterpret_cast<const element*>(values.data()), values.size()});
  }

 private:
  using element = detail::erased_element<T, Distribution>;
  using view = detail::table_view<element, detail::erased_distribution<T, Distribution>>;
};

/// Collective. One scatter with a plan of its own. For several scatters a scatter_plan is faster.
template <trivially_copyable T, distribution Distribution>
void scatter(dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
             std::type_identity_t<std::span<const T>> values, scatter_options options = {}) {
  options.expected_requests = indices.size();
  scatter_plan<T, Distribution> plan(table, options);
  plan(indices, values);
}

}  // namespace longshore

#include <longshore/gather/detail/scatter_dispatch.hpp>
