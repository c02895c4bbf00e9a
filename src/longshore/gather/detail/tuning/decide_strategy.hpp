// Decides which strategy a plan uses. For strategy auto it looks into the profile of this machine,
// and measures if the profile has nothing for this layout.
#pragma once

#include <longshore/gather/detail/tuning/measure_candidates.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace longshore::detail {

/// The operation and table to decide for. The same on all ranks, except all_direct.
struct decision_inputs {
  const char* operation;           ///< for error messages: gather, scatter, update
  const char* measured_operation;  ///< name of the operation in the profile
  std::size_t element_bytes;
  std::uint64_t table_items;  ///< on all ranks
  std::size_t part_items;     ///< on the rank with the most
  bool all_direct;            ///< whether this rank can reach all memory
  /// Why a strategy cannot be used for this operation, or nothing. The second argument: whether all
  /// ranks can reach all memory.
  std::optional<std::string> (*why_not)(gather_strategy, bool);
};

/// The sizes of the table and the list of indices that measurements use. The user's table is not
/// touched: its pages may not be placed yet.
struct tuning_size {
  std::uint64_t table_items;
  std::size_t requests;
};
/// Collective. Makes a table of these sizes, and returns the function that makes candidates for it.
using prepare_candidates = std::function<make_candidate(const tuning_size&)>;

/// Collective; options are the same on all ranks, except expected_requests. Returns the decision
/// for `options`, the same on all ranks. With strategy automatic it measures if the profile has
/// nothing for this layout or LONGSHORE_TUNE is 1, unless the profile is off. Measuring takes a
/// fraction of a second (LONGSHORE_TUNING_SECONDS, 0.6) and the time to prepare the candidates.
/// Memory meanwhile: at most twice the last-level cache, and 4 x 64 MiB of buffers per rank.
/// Throws, on all ranks, errc::unsupported if the strategy is not possible here, errc::usage if
/// buffer_items is 0.
[[nodiscard]] gather_decision decide_strategy(team& team, const decision_inputs& inputs,
                                              const gather_options& options,
                                              const prepare_candidates& prepare);

/// The class of a table with so many bytes on a host: the smallest cache level that it fits, or
/// memory.
[[nodiscard]] const char* table_class(std::size_t bytes, std::size_t last_level_bytes) noexcept;

}  // namespace longshore::detail
