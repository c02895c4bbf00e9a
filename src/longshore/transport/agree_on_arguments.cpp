// Compares the arguments of ranks: first a hash of their text, and the text itself only if the
// hashes differ.
#include <longshore/transport/agree_on_arguments.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace longshore::detail {
namespace {

// The first line in which two texts differ, as it is in each text.
struct differing_lines {
  std::string_view first, second;
};

differing_lines first_difference(std::string_view first, std::string_view second) {
  while (!first.empty() || !second.empty()) {
    const differing_lines lines{first.substr(0, first.find('\n')),
                                second.substr(0, second.find('\n'))};
    if (lines.first != lines.second) return lines;
    first.remove_prefix(std::min(first.size(), lines.first.size() + 1));
    second.remove_prefix(std::min(second.size(), lines.second.size() + 1));
  }
  return {};
}

}  // namespace

agreement agree(team& ranks, std::optional<errc> code, const common_arguments& arguments,
                const largest_taker& take_largest) {
  const std::int64_t hash = arguments.hash();
  std::array<std::int64_t, 3> largest{number_of_failure(ranks, code), hash, -hash};
  if (take_largest)
    take_largest(largest);
  else
    ranks.allreduce(largest, reduction::max);
  return {failure_of_number(ranks, largest[0]), largest[1] == -largest[2]};
}

void throw_for_other_arguments(team& ranks, std::string_view operation,
                               const common_arguments& arguments) {
  const std::string first = broadcast_text(ranks, arguments.text(), 0);
  std::optional<error> failure;
  if (const auto [theirs, mine] = first_difference(first, arguments.text()); theirs != mine)
    failure.emplace(errc::usage,
                    fmt::format("{}: rank 0 passes {}, and rank {} passes {}: all ranks must pass "
                                "the same",
                                operation, theirs.empty() ? "nothing more" : theirs, ranks.rank(),
                                mine.empty() ? "nothing more" : mine));
  throw_error_of_lowest_rank(ranks, failure);
  fail(errc::usage, "{}: the ranks pass different arguments", operation);  // not reached
}

}  // namespace longshore::detail
