// Plans the rounds of an exchange by its algorithm, and chooses the algorithm if it is `automatic`.
#pragma once

#include <longshore/halo/detail/algorithms/rounds.hpp>
#include <longshore/halo/halo_exchange.hpp>

#include <span>
#include <vector>

namespace longshore::detail {

/// Returns the rounds of an exchange. A round may begin when the round before is complete.
/// `self_copies` tells that the mode copies the messages of a rank to itself. These messages may
/// then come last. REQUIRES: not algorithm `automatic`.
[[nodiscard]] std::vector<halo_round> plan_rounds(halo_algorithm algorithm,
                                                  const plan_fields& fields,
                                                  halo_reach reach = halo_reach::corners,
                                                  bool self_copies = false);

/// Collective; all ranks get the same algorithm. The result is standard, without a trial, if all
/// algorithms send the same messages: on one rank, in one dimension, or if the stencil reads no
/// edges. Candidates are standard and staged, hybrid if there are several nodes of several ranks,
/// and both sequenced algorithms if there are 2 to 32 fields. The candidates run by turns
/// (fastest_by_turns). Cost: some 30 exchanges of each candidate, or some ten of a slow candidate.
/// Memory during the trial: a copy of the fields, and one plan per candidate. REQUIRES: the widths
/// of the options fit the fields.
[[nodiscard]] halo_algorithm choose_algorithm(const rank_grid& grid, const halo_options& options,
                                              const std::vector<field_memory>& fields);

}  // namespace longshore::detail
