// gather: out[i] = table[indices[i]], for a table that is distributed over all ranks and for
// arbitrary indices.
#pragma once

#include <longshore/gather/detail/plan_base.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/options.hpp>

#include <memory>
#include <span>
#include <type_traits>

namespace longshore {
namespace detail {

/// The interface behind gather_plan; gather_dispatch implements it.
template <trivially_copyable T>
class gather_plan_base : public plan_base {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<T> out) = 0;

 protected:
  using plan_base::plan_base;
};

/// Collective. Makes a gather_dispatch.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<gather_plan_base<T>> plan_gather(
    const table_view<T, Distribution>& table, const gather_options& options);

// These two instantiations are compiled in the library.
extern template std::unique_ptr<gather_plan_base<word32>> plan_gather(
    const table_view<word32, any_distribution>&, const gather_options&);
extern template std::unique_ptr<gather_plan_base<word64>> plan_gather(
    const table_view<word64, any_distribution>&, const gather_options&);

}  // namespace detail

/// A gather from one table with one strategy, made once and used often. Calls allocate nothing,
/// with one exception. With strategy auto, if the choice depends on the number of requests, the
/// first call of each size class makes a plan for that class.
///
///     longshore::gather_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, out);
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class gather_plan : public detail::plan_handle<
                        detail::gather_plan_base<detail::erased_element<T, Distribution>>> {
 public:
  /// Collective; options are the same on all ranks. Throws, on all ranks: errc::unsupported if the
  /// strategy is not available here, errc::usage if buffer_items is 0, errc::out_of_memory.
  /// Strategy auto measures for a fraction of a second if the profile of this machine has nothing
  /// for this layout.
  explicit gather_plan(const dist_array<T, Distribution>& table, gather_options options = {})
      : gather_plan::plan_handle(detail::plan_gather(view(table), options)) {}

  /// out[i] = table[indices[i]] for all i. Indices are global; each rank gives any number of them.
  /// Collective with auto and with strategies that aggregate; with agp and direct each rank may
  /// call it alone. It contains no barrier: call team.barrier() between writes of other ranks to
  /// the table and this call, and again before the next write.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range; with strategies that
  /// aggregate, the other ranks then throw errc::peer_failed. Part of `out` may have been written.
  /// The plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    this->plan_->run(indices, {reinterpret_cast<element*>(out.data()), out.size()});
  }

 private:
  using element = detail::erased_element<T, Distribution>;
  using view = detail::table_view<element, detail::erased_distribution<T, Distribution>>;
};

/// Collective. One gather with a plan of its own. For several gathers a gather_plan is faster.
template <trivially_copyable T, distribution Distribution>
void gather(const dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<T>> out, gather_options options = {}) {
  options.expected_requests = indices.size();
  gather_plan<T, Distribution> plan(table, options);
  plan(indices, out);
}

}  // namespace longshore

#include <longshore/gather/detail/gather_dispatch.hpp>
