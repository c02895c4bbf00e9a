// How ranks agree on errors, outside of the templates: which rank failed first, and the messages.
#include <longshore/transport/agree_on_errors.hpp>

#include <fmt/core.h>

namespace longshore {

std::string out_of_memory_text(std::string_view operation, int rank) {
  return fmt::format("{} on rank {}: memory ran out: use smaller sizes or fewer ranks per node",
                     operation, rank);
}

std::exception_ptr out_of_memory_on(std::string_view operation, int rank) {
  return std::make_exception_ptr(error(errc::out_of_memory, out_of_memory_text(operation, rank)));
}

detail::lowest_failure detail::agree_on_lowest_failure(team& ranks, std::optional<errc> code) {
  // One integer holds rank and code, so every code must be below code_count.
  constexpr std::int64_t code_count = 16;
  static_assert(static_cast<std::int64_t>(errc::transport) < code_count, "the last code of errc");
  // The lowest failed rank contributes the largest value.
  const std::int64_t mine =
      code ? (ranks.size() - ranks.rank()) * code_count + static_cast<std::int64_t>(*code) : 0;
  const auto largest = ranks.allreduce_value(mine, reduction::max);
  if (largest == 0) return {};
  return {ranks.size() - static_cast<int>(largest / code_count),
          static_cast<errc>(largest % code_count)};
}

void detail::throw_first_error(team& ranks, const std::optional<error>& failure) {
  const auto lowest =
      agree_on_lowest_failure(ranks, failure ? std::optional(failure->code()) : std::nullopt);
  if (lowest.rank < 0) return;
  std::string text = failure ? failure->what() : "";
  text.resize(ranks.broadcast_value<std::uint64_t>(text.size(), lowest.rank));
  ranks.broadcast(std::as_writable_bytes(std::span(text)), lowest.rank);
  throw error(lowest.code, text);
}

void throw_for_failed_rank(std::string_view operation, int rank, std::int64_t failed_rank,
                           errc code) {
  if (code == errc::out_of_memory)
    fail(errc::out_of_memory, "{} on rank {} was stopped: rank {} does not have enough memory",
         operation, rank, failed_rank);
  fail(errc::peer_failed, "{} on rank {} was stopped: rank {} failed; see its message", operation,
       rank, failed_rank);
}

}  // namespace longshore
