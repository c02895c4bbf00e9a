// The one exception type of the library: a code that programs act on, and a message that people act on.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace longshore {

/// What kind of thing went wrong. The values are part of the interface of every language; they are never renumbered.
enum class errc {
  usage = 1,          ///< the caller asked for something that makes no sense: nothing was done
  unsupported = 2,    ///< makes sense, but not on this transport, build or machine
  out_of_memory = 3,  ///< the memory asked for is not there
  timeout = 4,        ///< a wait passed its deadline
  peer_failed = 5,    ///< another rank of the team failed first; its error is the one to read
  transport = 6,      ///< the library underneath (MPI, ...) reported an error
};

/// Name of a code, as shown in messages: "usage", "timeout", ...
[[nodiscard]] const char* name_of(errc code) noexcept;

/// Thrown by every layer. what() says what happened, on which rank and with which peer where that matters, and what to do.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

/// Throws an error whose message is formatted by fmt.
template <class... Arguments>
[[noreturn]] void fail(errc code, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw error(code, fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace longshore
