// Steps that may fail on one rank alone, before a collective call that the others would then make
// without it.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>

namespace longshore {
namespace detail {

[[nodiscard]] std::exception_ptr out_of_memory_on(std::string_view what, int rank);
/// Throws for a rank on which nothing failed.
[[noreturn]] void give_up_with(std::string_view what, int rank, std::int64_t failed_rank,
                               errc code);

}  // namespace detail

/// Collective: one allreduce of 8 bytes. Calls `step`, which makes no collective call and may throw
/// on some ranks only. Where it throws on any rank all ranks throw, and are still together: a rank
/// where it threw passes on its own exception, the others throw errc::out_of_memory where that is
/// what the lowest failing rank has, else errc::peer_failed. A std::bad_alloc becomes
/// errc::out_of_memory. `what` is the operation in the message of the others: "a halo plan".
template <class Step>
void fail_together(team& ranks, std::string_view what, Step&& step) {
  constexpr std::int64_t codes = 16;
  std::exception_ptr mine;
  errc code = errc::transport;
  try {
    step();
  } catch (const error& e) {
    mine = std::current_exception();
    code = e.code();
  } catch (const std::bad_alloc&) {
    code = errc::out_of_memory;
    mine = detail::out_of_memory_on(what, ranks.rank());
  } catch (...) {
    mine = std::current_exception();
  }
  // The largest is that of the lowest rank.
  const std::int64_t told =
      mine ? (ranks.size() - ranks.rank()) * codes + static_cast<std::int64_t>(code) : 0;
  const auto lowest = ranks.allreduce_value(told, reduction::max);
  if (mine) std::rethrow_exception(mine);
  if (lowest == 0) return;
  detail::give_up_with(what, ranks.rank(), ranks.size() - lowest / codes,
                       static_cast<errc>(lowest % codes));
}

}  // namespace longshore
