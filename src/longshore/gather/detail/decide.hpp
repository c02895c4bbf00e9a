// What a plan with strategy auto becomes: by the profile of this machine, measured where it says
// nothing yet.
#pragma once

#include <longshore/gather/detail/tune.hpp>
#include <longshore/gather/options.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace longshore::detail {

/// What is to be decided on; the same on all ranks but for all_direct.
struct decision_inputs {
  const char* operation;           ///< for messages: gather, scatter, update
  const char* measured_operation;  ///< the name in the profile
  std::size_t element_bytes;
  std::uint64_t table_items;  ///< of all ranks
  std::size_t part_items;     ///< of the rank that has most
  bool all_direct;            ///< whether this rank can reach the memory of all
  /// Why a strategy cannot be used for this operation, given whether all memory can be reached.
  std::optional<std::string> (*why_not)(gather_strategy, bool);
};

/// What a tuning is made on: a table of its own of so many elements, and so many indices. The
/// user's table is not touched: its pages may not be where they belong yet.
struct tuning_size {
  std::uint64_t table_items;
  std::size_t requests;
};
/// Collective. Gives a table of tuning_size, and what makes candidates for it.
using tuning_setup = std::function<tuning_make(const tuning_size&)>;

/// Collective; options are the same on all ranks, but for expected_requests. What `asked` becomes;
/// the same on all ranks. Measures, when strategy is automatic, for a part of a second
/// (LONGSHORE_TUNING_SECONDS, 0.6) and some more to make the candidates ready, where the profile
/// has nothing for this layout, or LONGSHORE_TUNE is 1, and it is not off. Memory meanwhile: twice
/// the last-level cache at most, and 4 x 64 MiB of buffers per rank. Throws, on all ranks,
/// errc::unsupported for a strategy that is not possible here, errc::usage for buffers of no items.
[[nodiscard]] gather_decision decide(team& team, const decision_inputs& question,
                                     const gather_options& asked, const tuning_setup& set_up);

/// The name of the class of tables of so many bytes on a host: where they fit.
[[nodiscard]] const char* table_class(std::size_t bytes, std::size_t last_level_bytes) noexcept;

}  // namespace longshore::detail
