// The exception type of the library, with a code for programs and a message for people.
#pragma once

#include <longshore/core/detail/requirements.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace longshore {

/// The kind of a failure. The values never change: the interfaces of all languages use them.
enum class errc {
  usage = 1,          ///< the call is invalid and had no effect
  unsupported = 2,    ///< this transport, build or machine cannot do this
  out_of_memory = 3,  ///< the requested memory is not available
  timeout = 4,        ///< a wait passed its deadline
  peer_failed = 5,    ///< another rank of the team failed first; its error has the reason
  transport = 6,      ///< the communication library below (MPI, ...) reported an error
};

/// Name of a code, as shown in messages: "usage", "timeout", ...
[[nodiscard]] const char* name_of(errc code) noexcept;

/// Thrown by every layer. what() names the problem, the rank and the peer if relevant, and a
/// remedy.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] errc code() const noexcept { return code_; }
  // Defined in error.cpp, so that the type information exists once, also with shared libraries.
  [[nodiscard]] const char* what() const noexcept override;

 private:
  errc code_;
};

/// The failure of a program that is not in C++, thrown by the interface of the program's language.
/// what() is the complete message.
class program_failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  [[nodiscard]] const char* what() const noexcept override;
};

/// The message with which a failed run ends. The message of an error of the library begins with its
/// code ("usage: ..."). The message of a std::exception of the program shows the type ("the program
/// threw std::out_of_range: ..."). REQUIRES: `thrown` is not null.
[[nodiscard]] std::string failure_text(const std::exception_ptr& thrown);

namespace detail {

/// "1st" for index 0, "2nd" for index 1, ... So messages name fields and boxes, whose numbers begin
/// at 0 in C++, C and Python, and at 1 in Fortran.
[[nodiscard]] std::string nth(std::size_t index);

/// A value for a {} of a message. Messages are formatted in error.cpp, so that callers of `fail`
/// compile no formatting code.
struct error_value {
  template <std::signed_integral T>
  constexpr error_value(T number) noexcept : type(kind::integer), integer(number) {}
  template <std::unsigned_integral T>
  constexpr error_value(T number) noexcept : type(kind::natural), natural(number) {}
  constexpr error_value(double number) noexcept : type(kind::real), real(number) {}
  template <class T>
  requires std::convertible_to<const T&, std::string_view>
  constexpr error_value(const T& words) : type(kind::text), text(words) {}
  error_value(bool) = delete;
  error_value(char) = delete;

  enum class kind : unsigned char { integer, natural, real, text } type;
  union {
    long long integer;
    unsigned long long natural;
    double real;
    std::string_view text;
  };
};

/// The format string of an error's text, for fmt. The compiler checks that the string has one {}
/// per value.
template <class... Values>
class error_format {
 public:
  template <std::size_t Size>
  consteval error_format(const char (&text)[Size]) : text_(text, Size - 1) {
    std::size_t placeholders = 0;
    for (std::size_t i = 0; i + 1 < Size; ++i)
      if (text[i] == '{' && text[++i] != '{') ++placeholders;  // {{ stands for a brace
    // In a consteval function, a throw is a compile error.
    if (placeholders != sizeof...(Values)) throw "a message needs one {} per value";
  }
  [[nodiscard]] constexpr std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
};

[[noreturn]] void fail(errc code, std::string_view format, const error_value* values,
                       std::size_t count);

}  // namespace detail

/// Throws an error with a message formatted by fmt.
template <class... Values>
[[noreturn]] void fail(errc code, detail::error_format<std::type_identity_t<Values>...> format,
                       const Values&... values) {
  // An array must not be empty, so it has one more element, which is not counted.
  const detail::error_value stored[] = {values..., 0};
  detail::fail(code, format.text(), stored, sizeof...(values));
}

}  // namespace longshore
