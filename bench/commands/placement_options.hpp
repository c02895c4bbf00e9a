// The options of `longshore-bench placement`, read and checked.
#pragma once

#include <longshore/machine/placement_search.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

struct placement_request {
  std::string help_text;               ///< to print instead of planning
  std::vector<hardware_level> levels;  ///< levels of the machine, outermost first
  std::string topology;                ///< in one line; empty if --levels gave the levels
  halo_load load;
  std::string load_text;  ///< description of the load
  search_options search;
  std::optional<placement> by_hand;  ///< the user's own placement, to compare with the others
  std::string json_file;             ///< empty if no file is named; "-" is standard output
};

/// Throws errc::usage with a message that names the option, its value and the allowed values.
[[nodiscard]] placement_request parse_placement(std::span<const char* const> words);

}  // namespace longshore::bench
