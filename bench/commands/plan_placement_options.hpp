// The command line of `longshore-bench placement`, which plans a placement and needs no ranks.
#pragma once

#include <longshore/machine/placement_search.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::bench {

/// What is to be planned.
struct placement_request {
  bool help = false;
  std::string text;                    ///< of the help
  std::vector<hardware_level> levels;  ///< of the machine, from the outermost in
  std::string topology;                ///< one line, where the levels came from a topology
  halo_load load;
  std::string load_text;  ///< for people
  search_options search;
  std::optional<placement> by_hand;
  std::optional<std::string> json_file;  ///< "-": standard output
};

/// Throws errc::usage, whose message names the option, what was given, and what is allowed.
[[nodiscard]] placement_request parse_placement(std::span<const char* const> words);

}  // namespace longshore::bench
