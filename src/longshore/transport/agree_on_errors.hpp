// Making an error of one rank an error of all ranks. Without this, the other ranks would wait in
// the next collective call until the deadline.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <string_view>

namespace longshore {

[[nodiscard]] std::exception_ptr out_of_memory_on(std::string_view operation, int rank);
/// Throws the error of a rank on which nothing failed.
[[noreturn]] void throw_for_failed_rank(std::string_view operation, int rank,
                                        std::int64_t failed_rank, errc code);

/// Collective: one allreduce of 8 bytes. Calls `step`, which must not make collective calls and may
/// throw on some ranks only. If it throws on any rank, all ranks throw, and can continue with the
/// same next collective call. A rank where it threw throws its own exception; std::bad_alloc
/// becomes errc::out_of_memory. The other ranks throw errc::out_of_memory if the lowest failed rank
/// has that code, else errc::peer_failed. Messages show `operation`: "a halo plan".
template <class Step>
void agree_on_errors(team& ranks, std::string_view operation, Step&& step) {
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
    mine = out_of_memory_on(operation, ranks.rank());
  } catch (...) {
    mine = std::current_exception();
  }
  // The lowest failed rank contributes the largest value.
  const std::int64_t failure =
      mine ? (ranks.size() - ranks.rank()) * codes + static_cast<std::int64_t>(code) : 0;
  const auto lowest = ranks.allreduce_value(failure, reduction::max);
  if (mine) std::rethrow_exception(mine);
  if (lowest == 0) return;
  throw_for_failed_rank(operation, ranks.rank(), ranks.size() - lowest / codes,
                        static_cast<errc>(lowest % codes));
}

}  // namespace longshore
