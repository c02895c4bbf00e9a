// Finds ranks that pass different arguments to the same collective call. Such ranks would send
// messages that other ranks do not expect, or read bytes as another type.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/agree_on_errors.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace longshore {

/// The arguments of a collective call that must be the same on all ranks, in words.
class common_arguments {
 public:
  /// Neither `name` nor the text of `value` has a line feed.
  template <class Value>
  common_arguments& add(std::string_view name, const Value& value) {
    fmt::format_to(std::back_inserter(text_), "{} {}\n", name, value);
    return *this;
  }
  /// One line for each argument: its name and its value.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// A hash of the arguments. If all ranks have the same arguments, the minimum and the maximum of
  /// hash() over the ranks are equal; else they differ, except with a probability of 2^-62.
  [[nodiscard]] std::int64_t hash() const noexcept {
    return static_cast<std::int64_t>(hash_of(text_) >> 2);
  }

 private:
  std::string text_;
};

namespace detail {

struct agreement {
  lowest_failure failed;
  bool is_same = true;  ///< whether all ranks have the same arguments
};
/// Collective. Replaces numbers of this rank by the largest of all ranks.
using largest_taker = std::function<void(std::span<std::int64_t>)>;
/// Collective: calls `take_largest` with three numbers; if it is empty, an allreduce. `code` is this
/// rank's failure, or nothing.
[[nodiscard]] agreement agree(team& ranks, std::optional<errc> code,
                              const common_arguments& arguments, const largest_taker& take_largest);

/// Collective. Throws errc::usage on all ranks. The message names the first rank whose arguments
/// differ from those of rank 0, and both values of the first argument that differs.
[[noreturn]] void throw_for_other_arguments(team& ranks, std::string_view operation,
                                            const common_arguments& arguments);

}  // namespace detail

/// Collective: one allreduce of 24 bytes. Calls `step` and agrees on its errors, like
/// agree_on_errors(). If no rank has failed, all ranks throw errc::usage if their arguments differ.
/// `step` may add to `arguments`. An exchange of messages that also reduces may take the place of the
/// allreduce.
template <class Step>
void agree_on_call(team& ranks, std::string_view operation, const common_arguments& arguments,
                   Step&& step, const detail::largest_taker& take_largest = {}) {
  detail::agree_on_errors(ranks, operation, step, [&](std::optional<errc> code) {
    const auto agreed = detail::agree(ranks, code, arguments, take_largest);
    if (agreed.failed.rank < 0 && !agreed.is_same)
      detail::throw_for_other_arguments(ranks, operation, arguments);
    return agreed.failed;
  });
}

}  // namespace longshore
