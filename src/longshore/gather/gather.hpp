// gather: out[i] = table[indices[i]], for a table that is distributed over all ranks and for
// arbitrary indices. gather_plan is made for a table once and then called often.
#pragma once

#include <longshore/gather/detail/compiled_loops.hpp>
#include <longshore/gather/detail/table_gather.hpp>

#include <span>
#include <type_traits>

namespace longshore {

/// Gathers from one table. The plan holds the buffers of its strategy, so calls allocate nothing.
/// There is one exception: strategy auto may choose one strategy for calls with few requests and
/// another one for calls with many. The first call that uses a strategy then makes the buffers of
/// this strategy.
///
///     longshore::gather_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, out);
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class gather_plan
    : public detail::plan_handle<typename detail::compiled_copy_types<T, Distribution>::element> {
 public:
  /// Collective; all ranks pass the same options, except expected_requests. Throws, on all ranks:
  /// errc::unsupported if the strategy is not available here, or errc::out_of_memory.
  ///
  /// Strategy auto reads earlier measurements from a file, the profile (LONGSHORE_PROFILE). If the
  /// file does not have this layout of ranks and nodes, auto measures for a fraction of a second.
  explicit gather_plan(const dist_array<T, Distribution>& table, gather_options options = {})
      : gather_plan::plan_handle(detail::plan_gather(view(table), options)) {}

  /// out[i] = table[indices[i]] for all i. Indices are global; each rank passes any number of
  /// indices. Collective, except if the options name strategy agp or direct: then a rank may call
  /// alone. The call contains no barrier: call team.barrier() between writes of other ranks to the
  /// table and this call, and again before the next write.
  ///
  /// Throws errc::usage if the sizes differ or an index is out of range. With strategies that
  /// aggregate, the other ranks then throw errc::peer_failed; with agp and direct they do not
  /// notice. Part of `out` may have been written, and the plan can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    this->plan_->run(
        {"gather", indices, std::span(reinterpret_cast<element*>(out.data()), out.size())});
  }

 private:
  using loop = detail::compiled_copy_types<T, Distribution>;
  using element = typename loop::element;
  using view = detail::table_view<element, typename loop::distribution>;
};

/// Collective. Makes a plan for a single gather. For several gathers a gather_plan is faster.
template <trivially_copyable T, distribution Distribution>
void gather(const dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<T>> out, gather_options options = {}) {
  options.expected_requests = indices.size();
  gather_plan<T, Distribution> plan(table, options);
  plan(indices, out);
}

}  // namespace longshore
