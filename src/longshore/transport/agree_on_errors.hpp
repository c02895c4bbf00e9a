// Turns an error of one rank into errors of all ranks. Without this, the other ranks would wait in
// the next collective call until the deadline.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace longshore {

[[nodiscard]] std::string out_of_memory_text(std::string_view operation, int rank);
[[nodiscard]] std::exception_ptr out_of_memory_on(std::string_view operation, int rank);

namespace detail {

/// The lowest rank that failed, and its code. Without a failure, `rank` is -1.
struct lowest_failure {
  int rank = -1;
  errc code = {};
};
/// The number of this rank's failure; 0 without one. The lowest failed rank has the largest number.
[[nodiscard]] std::int64_t number_of_failure(const team& ranks, std::optional<errc> code) noexcept;
[[nodiscard]] lowest_failure failure_of_number(const team& ranks, std::int64_t number) noexcept;

/// Collective: one allreduce of 8 bytes. `code` is this rank's failure, or nothing.
[[nodiscard]] lowest_failure agree_on_lowest_failure(team& ranks, std::optional<errc> code);

/// Collective. Returns the text that rank `root` passes.
[[nodiscard]] std::string broadcast_text(team& ranks, std::string text, int root);

/// For a rank where nothing failed. Throws because another rank failed with this text.
[[noreturn]] void throw_for_failed_rank(std::string_view operation, int rank,
                                        const lowest_failure& failed, const std::string& text);

/// Collective. Throws on all ranks the error of the lowest rank that has one.
void throw_error_of_lowest_rank(team& ranks, const std::optional<error>& failure);

/// Collective. Implements agree_on_errors(). `agree` gets the failure of this rank and returns the
/// lowest failure of all ranks.
template <class Step, class Agree>
void agree_on_errors(team& ranks, std::string_view operation, Step&& step, const Agree& agree) {
  std::exception_ptr own_error;
  errc code = errc::transport;  // of other exceptions: the other ranks throw peer_failed
  std::string text;
  try {
    step();
  } catch (const error& e) {
    own_error = std::current_exception();
    code = e.code();
    text = e.what();
  } catch (const std::bad_alloc&) {
    code = errc::out_of_memory;
    own_error = out_of_memory_on(operation, ranks.rank());
    text = out_of_memory_text(operation, ranks.rank());
  } catch (const std::exception& e) {
    own_error = std::current_exception();
    text = e.what();
  } catch (...) {
    own_error = std::current_exception();
  }
  lowest_failure lowest;
  try {
    lowest = agree(own_error ? std::optional(code) : std::nullopt);
  } catch (...) {  // the other ranks did not make this call: this rank's error comes first
    if (own_error) std::rethrow_exception(own_error);
    throw;
  }
  if (lowest.rank < 0) return;
  text = broadcast_text(ranks, std::move(text), lowest.rank);
  if (own_error) std::rethrow_exception(own_error);
  throw_for_failed_rank(operation, ranks.rank(), lowest, text);
}

}  // namespace detail

/// Collective: one allreduce of 8 bytes. Calls `step`, which must not make collective calls and may
/// throw on some ranks only. If `step` throws on any rank, all ranks throw, and can continue with
/// the same next collective call. A rank where `step` threw rethrows that exception; std::bad_alloc
/// becomes errc::out_of_memory. The other ranks throw errc::out_of_memory if the lowest failed rank
/// has that code, else errc::peer_failed, with the text of that rank. Messages name the
/// `operation`, for example "a halo plan". A failure costs an additional broadcast.
template <class Step>
void agree_on_errors(team& ranks, std::string_view operation, Step&& step) {
  detail::agree_on_errors(ranks, operation, step, [&](std::optional<errc> code) {
    return detail::agree_on_lowest_failure(ranks, code);
  });
}

/// Collective. Like agree_on_errors(), but all ranks throw the error of the lowest failed rank,
/// with its code and its text. So the text should name the rank. A failure costs an additional
/// broadcast.
template <class Step>
void agree_on_error_of_lowest_rank(team& ranks, std::string_view operation, Step&& step) {
  std::optional<error> failure;
  try {
    step();
  } catch (const error& e) {
    failure = e;
  } catch (const std::bad_alloc&) {
    failure.emplace(errc::out_of_memory, out_of_memory_text(operation, ranks.rank()));
  } catch (const std::exception& e) {
    failure.emplace(errc::transport, e.what());
  }
  detail::throw_error_of_lowest_rank(ranks, failure);
}

}  // namespace longshore
