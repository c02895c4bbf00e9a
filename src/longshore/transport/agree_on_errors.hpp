// Turning an error of one rank into an error of all ranks. Otherwise the other ranks would wait in
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
/// Throws on a rank where nothing failed, because `failed_rank` failed with `code`.
[[noreturn]] void throw_for_failed_rank(std::string_view operation, int rank,
                                        std::int64_t failed_rank, errc code);

/// Collective: one allreduce of 8 bytes. Calls `step`, which must not make collective calls and may
/// throw on some ranks only. If `step` throws on any rank, all ranks throw, and can continue with
/// the same next collective call. A rank where `step` threw rethrows that exception; std::bad_alloc
/// becomes errc::out_of_memory. The other ranks throw errc::out_of_memory if the lowest failed rank
/// has that code, else errc::peer_failed. Messages name the `operation`, for example "a halo plan".
template <class Step>
void agree_on_errors(team& ranks, std::string_view operation, Step&& step) {
  // One integer holds rank and code, so every code must be below code_count.
  constexpr std::int64_t code_count = 16;
  static_assert(static_cast<std::int64_t>(errc::transport) < code_count, "the last code of errc");
  std::exception_ptr own_error;
  errc code = errc::transport;  // of other exceptions; the other ranks then throw peer_failed
  try {
    step();
  } catch (const error& e) {
    own_error = std::current_exception();
    code = e.code();
  } catch (const std::bad_alloc&) {
    code = errc::out_of_memory;
    own_error = out_of_memory_on(operation, ranks.rank());
  } catch (...) {
    own_error = std::current_exception();
  }
  // The lowest failed rank contributes the largest value.
  const std::int64_t failure =
      own_error ? (ranks.size() - ranks.rank()) * code_count + static_cast<std::int64_t>(code) : 0;
  const auto lowest_failure = ranks.allreduce_value(failure, reduction::max);
  if (own_error) std::rethrow_exception(own_error);
  if (lowest_failure == 0) return;
  throw_for_failed_rank(operation, ranks.rank(), ranks.size() - lowest_failure / code_count,
                        static_cast<errc>(lowest_failure % code_count));
}

}  // namespace longshore
