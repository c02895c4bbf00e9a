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

namespace {

// One integer holds rank and code, so every code must be below code_count.
constexpr std::int64_t code_count = 16;
static_assert(static_cast<std::int64_t>(errc::transport) < code_count, "the last code of errc");

}  // namespace

std::int64_t detail::number_of_failure(const team& ranks, std::optional<errc> code) noexcept {
  // The lowest failed rank has the largest number.
  return code ? (ranks.size() - ranks.rank()) * code_count + static_cast<std::int64_t>(*code) : 0;
}

detail::lowest_failure detail::failure_of_number(const team& ranks, std::int64_t number) noexcept {
  if (number == 0) return {};
  return {ranks.size() - static_cast<int>(number / code_count),
          static_cast<errc>(number % code_count)};
}

detail::lowest_failure detail::agree_on_lowest_failure(team& ranks, std::optional<errc> code) {
  const auto largest = ranks.allreduce_value(number_of_failure(ranks, code), reduction::max);
  return failure_of_number(ranks, largest);
}

std::string detail::broadcast_text(team& ranks, std::string text, int root) {
  text.resize(ranks.broadcast_value<std::uint64_t>(text.size(), root));
  ranks.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

void detail::throw_error_of_lowest_rank(team& ranks, const std::optional<error>& failure) {
  const auto lowest =
      agree_on_lowest_failure(ranks, failure ? std::optional(failure->code()) : std::nullopt);
  if (lowest.rank < 0) return;
  throw error(lowest.code, broadcast_text(ranks, failure ? failure->what() : "", lowest.rank));
}

void detail::throw_for_failed_rank(std::string_view operation, int rank,
                                   const lowest_failure& failed, const std::string& text) {
  fail(failed.code == errc::out_of_memory ? errc::out_of_memory : errc::peer_failed,
       "{} on rank {} was stopped, because rank {} failed: {}", operation, rank, failed.rank, text);
}

}  // namespace longshore
