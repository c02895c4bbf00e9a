// The options of `longshore-bench placement`.
#pragma once

#include <longshore/machine/placement_search.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// The request for a plan.
struct placement_request {
  bool help = false;
  std::string text;                    ///< the help
  std::vector<hardware_level> levels;  ///< of the machine, from the outermost in
  std::string topology;                ///< one line, if the levels come from a topology
  halo_load load;
  std::string load_text;  ///< for people
  search_options search;
  std::optional<placement> by_hand;
  std::optional<std::string> json_file;  ///< "-": standard output
};

/// Throws errc::usage with a message that names the option, its value and the allowed ones.
[[nodiscard]] placement_request parse_placement(std::span<const char* const> words);

}  // namespace longshore::bench
