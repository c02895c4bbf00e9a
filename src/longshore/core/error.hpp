// The library's one exception type. It has a code for programs and a message for people.
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

/// The kind of a failure. The values are part of the interface of every language, and are never
/// renumbered.
enum class errc {
  usage = 1,          ///< the call makes no sense; it had no effect
  unsupported = 2,    ///< the call makes sense, but not on this transport, build or machine
  out_of_memory = 3,  ///< the requested memory is not available
  timeout = 4,        ///< a wait passed its deadline
  peer_failed = 5,    ///< another rank of the team failed first; its error has the reason
  transport = 6,      ///< the communication library below (MPI, ...) reported an error
};

/// Name of a code, as shown in messages: "usage", "timeout", ...
[[nodiscard]] const char* name_of(errc code) noexcept;

/// Thrown by every layer. what() tells the problem, the rank and the peer if they matter, and what
/// to do.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] errc code() const noexcept { return code_; }

 private:
  errc code_;
};

/// A program in another language than C++ failed. what() is the whole message. The interface of
/// that language throws it.
class program_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The message with which a failed run ends. An error of the library begins with its code
/// ("usage: ..."), an exception of the program with its type ("the program threw
/// std::out_of_range: ..."). REQUIRES: `thrown` is not null.
[[nodiscard]] std::string failure_text(const std::exception_ptr& thrown);

namespace detail {

/// A value of any type for a message. It lets `fail` format messages in error.cpp, so that callers
/// compile no formatting code.
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

/// A format string of fmt with one {} per value. The compiler checks their number.
template <class... Values>
class message_format {
 public:
  template <std::size_t Size>
  consteval message_format(const char (&text)[Size]) : text_(text, Size - 1) {
    std::size_t places = 0;
    for (std::size_t i = 0; i + 1 < Size; ++i)
      if (text[i] == '{' && text[++i] != '{') ++places;
    // In a consteval function, a throw is a compile error.
    if (places != sizeof...(Values)) throw "a message needs one {} per value";
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

[[noreturn]] void fail(errc code, std::string_view format, std::span<const message_value> values);

}  // namespace detail

/// Throws an error with a message formatted by fmt.
template <class... Values>
[[noreturn]] void fail(errc code, detail::message_format<std::type_identity_t<Values>...> format,
                       const Values&... values) {
  const detail::message_value all[] = {values..., 0};
  detail::fail(code, format.text(), std::span(all, sizeof...(values)));
}

}  // namespace longshore
