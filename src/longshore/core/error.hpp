// The one exception type of the library: a code that programs act on, and a message that people act
// on.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace longshore {

/// What kind of thing went wrong. The values are part of the interface of every language; they are
/// never renumbered.
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

/// Thrown by every layer. what() says what happened, on which rank and with which peer where that
/// matters, and what to do.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

/// The program of another language than C++ failed; what() is the whole text. Thrown by the
/// interface of that language.
class program_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How the end of a run tells its cause: an error of the library by its code ("usage: ..."), an
/// exception of the program by its type ("the program threw std::out_of_range: ..."). REQUIRES: not
/// null.
[[nodiscard]] std::string failure_text(const std::exception_ptr& thrown);

namespace detail {

/// A value in a message, whatever its type: formatting is not compiled where errors are thrown.
class message_value {
 public:
  enum class kind : unsigned char { signed_integer, unsigned_integer, floating, text };

  template <std::signed_integral T>
  constexpr message_value(T value) noexcept : kind_(kind::signed_integer), signed_(value) {}
  template <std::unsigned_integral T>
  constexpr message_value(T value) noexcept : kind_(kind::unsigned_integer), unsigned_(value) {}
  constexpr message_value(double value) noexcept : kind_(kind::floating), floating_(value) {}
  template <class T>
  requires std::convertible_to<const T&, std::string_view>
  constexpr message_value(const T& value) : kind_(kind::text), text_(value) {}
  message_value(bool) = delete;
  message_value(char) = delete;

  /// Calls body(value).
  template <class Body>
  constexpr decltype(auto) with(const Body& body) const {
    switch (kind_) {
      case kind::signed_integer: return body(signed_);
      case kind::unsigned_integer: return body(unsigned_);
      case kind::floating: return body(floating_);
      case kind::text: break;
    }
    return body(text_);
  }

 private:
  kind kind_;
  union {
    long long signed_;
    unsigned long long unsigned_;
    double floating_;
    std::string_view text_;
  };
};

/// The text of a message with a {} for each value, in the language of fmt; the compiler counts
/// them.
template <class... Values>
class message_format {
 public:
  template <std::size_t Size>
  consteval message_format(const char (&text)[Size]) : text_(text, Size - 1) {
    std::size_t places = 0;
    for (std::size_t i = 0; i + 1 < Size; ++i)
      if (text[i] == '{' && text[++i] != '{') ++places;
    // an error of compiling
    if (places != sizeof...(Values)) throw "a message has a {} for each value";
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

[[noreturn]] void fail(errc code, std::string_view format, std::span<const message_value> values);

}  // namespace detail

/// Throws an error whose message is formatted as by fmt.
template <class... Values>
[[noreturn]] void fail(errc code, detail::message_format<std::type_identity_t<Values>...> format,
                       const Values&... values) {
  const detail::message_value all[] = {values..., 0};
  detail::fail(code, format.text(), std::span(all, sizeof...(values)));
}

}  // namespace longshore
