// Decides which strategy a plan uses. For strategy auto, the profile of this machine has the times
// of earlier measurements; if the profile has none for this layout, the strategies are measured.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// The operation and table of the decision. The same on all ranks, except all_direct.
struct decision_inputs {
  const char* operation;           ///< for error messages: gather, scatter, update
  const char* measured_operation;  ///< name of the operation in the profile
  std::string_view function;       ///< of an update, which the ranks compare
  std::size_t element_bytes;
  std::uint64_t table_items;       ///< on all ranks together
  std::size_t largest_part_items;  ///< on the rank with the largest part
  bool all_direct;                 ///< whether this rank can reach all memory
  why_not_function why_not;        ///< for this operation
};

/// The sizes of the table and of the list of indices for measurements. Measurements do not touch
/// the user's table, because its pages may not be placed yet.
struct tuning_size {
  std::uint64_t table_items;
  std::size_t requests;
};
/// Collective. Runs a prepared candidate with the first `requests` requests of the measurement.
using run_candidate = shared_function<void(std::size_t requests)>;
/// Collective. Prepares a candidate. A candidate is left out if its preparation throws
/// errc::out_of_memory, unsupported or usage on all ranks.
using make_candidate = shared_function<run_candidate(const gather_choice&)>;

/// Collective. Makes a table of this size, and returns the function that makes candidates for that
/// table.
using prepare_candidates = shared_function<make_candidate(const tuning_size&)>;

/// Collective; all ranks pass the same options, except expected_requests. All ranks get the same
/// decision. With strategy automatic, the call measures if the profile has nothing for this layout
/// or LONGSHORE_TUNE is 1, unless the profile is off. Measuring takes a fraction of a second
/// (LONGSHORE_TUNING_SECONDS, default 0.6) and the time to prepare the candidates. Memory while
/// measuring: tables of at most twice the last-level cache, and 4 x 64 MiB of buffers per rank.
/// Throws errc::unsupported, on all ranks, if the strategy is not possible here.
[[nodiscard]] gather_decision decide_strategy(team& team, const decision_inputs& inputs,
                                              const gather_options& options,
                                              const prepare_candidates& prepare);

struct tuning_limits {
  double seconds = 0.6;                  ///< time budget for measuring
  std::size_t max_requests = 1'000'000;  ///< number of prepared requests
};

/// Collective; all ranks pass the same arguments and get the same result. Calls the candidates by
/// turns (time_by_turns): first with 100 requests, only to find out which are slow, and then with
/// the number of each class of requests. Each number may use a fifth of the budget, and an equal
/// share of what smaller numbers left over.
///
/// The best candidate can take at most ten times as long as with a tenth of the requests. A
/// candidate that took longer than that with fewer requests cannot win, and is not called. From
/// 10,000 requests on, only the candidates that are expected to be fastest are measured: as many as
/// fit into the time for this number of requests. All measurements together take at most about
/// twice the budget, plus the time of some calls with 100 and 1000 requests.
[[nodiscard]] std::vector<timed_choice> measure_candidates(
    team& team, std::span<const gather_choice> candidates, const make_candidate& make,
    const tuning_limits& limits);

/// The smallest cache level that `bytes` fit into, or memory. `bytes`: the size of a table on a
/// host.
[[nodiscard]] const char* table_class(std::size_t bytes, std::size_t last_level_bytes) noexcept;

}  // namespace longshore::detail
