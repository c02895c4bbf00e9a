// gather: out[i] = table[indices[i]], where the table is spread over all ranks and the indices are
// any.
#pragma once

#include <longshore/gather/detail/planned.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/gather/options.hpp>

#include <memory>
#include <span>
#include <type_traits>

namespace longshore {
namespace detail {

template <trivially_copyable T>
class planned_gather : public planned {
 public:
  virtual void run(std::span<const std::int64_t> indices, std::span<T> out) = 0;

 protected:
  using planned::planned;
};

/// Collective. Strategies are those of gather_by_strategy.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] std::unique_ptr<planned_gather<T>> plan_gather(
    const table_parts<T, Distribution>& table, const gather_options& options);

// Compiled in the library.
extern template std::unique_ptr<planned_gather<word32>> plan_gather(
    const table_parts<word32, any_distribution>&, const gather_options&);
extern template std::unique_ptr<planned_gather<word64>> plan_gather(
    const table_parts<word64, any_distribution>&, const gather_options&);

}  // namespace detail

/// What gathers from one table need, made once and used often: nothing is allocated while it is
/// used (by strategy auto, where it depends on the number of requests, when a size is first met).
///
///     longshore::gather_plan plan(table, {.strategy = longshore::gather_strategy::exstack});
///     plan(indices, out);
///
/// The table must outlive the plan.
template <trivially_copyable T, distribution Distribution>
class gather_plan {
 public:
  /// Collective; options are the same on all ranks. Throws, on all ranks, errc::unsupported for a
  /// strategy that is not there or not possible here, errc::usage for buffers of no items,
  /// errc::out_of_memory. Strategy auto measures for a part of a second in a layout that the
  /// profile of this machine does not have yet.
  explicit gather_plan(const dist_array<T, Distribution>& table, gather_options options = {})
      : plan_(detail::plan_gather(parts(table), options)) {}

  /// out[i] = table[indices[i]] for all i; indices are global, any number of them, different on
  /// each rank. Collective with auto and with strategies that aggregate; with agp and direct a call
  /// of this rank alone. What other ranks wrote into the table must be behind a barrier, and nobody
  /// may write into it before all ranks have returned (no barrier is made here). Throws errc::usage
  /// when the sizes differ or an index is out of range (then, if they aggregate, errc::peer_failed
  /// on the other ranks); the plan can be used again, `out` may be written in part.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    plan_->run(indices, {reinterpret_cast<element*>(out.data()), out.size()});
  }

  /// The strategy in use: what automatic has become, for the last call.
  [[nodiscard]] gather_strategy strategy() const noexcept { return choice().strategy; }
  /// The same with size of buffers and hops.
  [[nodiscard]] const gather_choice& choice() const noexcept { return plan_->choice(); }
  /// All choices, and why.
  [[nodiscard]] const gather_decision& decision() const noexcept { return plan_->decision(); }
  /// What this rank moved in the last call: payload is the values; questions count as wire bytes.
  [[nodiscard]] const traffic& moved() const noexcept { return plan_->moved(); }
  /// What happened on this rank since the plan was made: messages and their fill by hop, latencies,
  /// waits.
  [[nodiscard]] exchange_report what_happened() const { return plan_->what_happened(); }

 private:
  using element = detail::moved_element<T, Distribution>;
  using parts = detail::table_parts<element, detail::moved_distribution<T, Distribution>>;
  std::unique_ptr<detail::planned_gather<element>> plan_;
};

/// Collective. One gather with a plan of its own; see gather_plan, which is better where more than
/// one follows.
template <trivially_copyable T, distribution Distribution>
void gather(const dist_array<T, Distribution>& table, std::span<const std::int64_t> indices,
            std::type_identity_t<std::span<T>> out, gather_options options = {}) {
  options.expected_requests = indices.size();
  gather_plan<T, Distribution> plan(table, options);
  plan(indices, out);
}

}  // namespace longshore

#include <longshore/gather/detail/gather_by_strategy.hpp>
