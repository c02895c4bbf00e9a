// Makes the raw_calls of a team for benchmarks: allocates a region that the library's calls use.
#include <longshore/core/bytes.hpp>
#include <longshore/transport/one_sided/detail/raw_calls.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>

namespace longshore::one_sided {

std::unique_ptr<detail::raw_calls> make_raw_calls(longshore::team& ranks, std::size_t bytes) {
  auto* const one_sided_team = dynamic_cast<team*>(&ranks);
  if (one_sided_team == nullptr) return nullptr;
  constexpr std::size_t page = detail::raw_calls::message_offset;
  const std::size_t source_offset = page + round_up(bytes, page);
  auto memory = std::make_shared<region_owner>(one_sided_team->make_region(source_offset + bytes));
  auto calls = one_sided_team->lib().make_raw_calls(**memory, source_offset);
  calls->keep(std::move(memory));
  one_sided_team->checked_barrier({collective::raw_calls});
  return calls;
}

}  // namespace longshore::one_sided
