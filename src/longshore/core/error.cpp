// Turns failures into text. Gives each error code its name, makes a message from any exception that
// ends a run, and formats all messages of the library.
#include <longshore/core/error.hpp>

#include <cxxabi.h>
#include <fmt/args.h>
#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <typeinfo>

namespace longshore {
namespace {

// The name as in the source code if the compiler's name can be demangled, else the compiler's name.
std::string type_name(const std::type_info* type) {
  if (type == nullptr) return "an exception of another language";
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, nullptr), std::free);
  return name ? name.get() : type->name();
}

}  // namespace

const char* name_of(errc code) noexcept {
  switch (code) {
    case errc::usage: return "usage";
    case errc::unsupported: return "unsupported";
    case errc::out_of_memory: return "out of memory";
    case errc::timeout: return "timeout";
    case errc::peer_failed: return "peer failed";
    case errc::transport: return "transport";
  }
  return "unknown";
}

const char* error::what() const noexcept { return std::runtime_error::what(); }

const char* program_failure::what() const noexcept { return std::runtime_error::what(); }

std::string failure_text(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const error& e) {
    return fmt::format("{}: {}", name_of(e.code()), e.what());
  } catch (const program_failure& e) {
    return e.what();
  } catch (const std::bad_alloc&) {
    return fmt::format("{}: an allocation failed", name_of(errc::out_of_memory));
  } catch (const std::exception& e) {
    return fmt::format("the program threw {}: {}", type_name(&typeid(e)), e.what());
  } catch (const std::string& text) {
    return fmt::format("the program threw the text '{}'", text);
  } catch (const char* text) {
    return fmt::format("the program threw the text '{}'", text);
  } catch (...) {
    return fmt::format("the program threw {}, which is no std::exception",
                       type_name(abi::__cxa_current_exception_type()));
  }
}

std::string detail::nth(std::size_t index) {
  constexpr std::array<const char*, 4> ends{"th", "st", "nd", "rd"};
  const std::size_t number = index + 1, last = number / 10 % 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, ends[last < ends.size() ? last : 0]);
}

void detail::fail(errc code, std::string_view format, const error_value* values,
                  std::size_t count) {
  fmt::dynamic_format_arg_store<fmt::format_context> stored;
  for (const error_value& value : std::span(values, count)) switch (value.type) {
      case error_value::kind::integer: stored.push_back(value.integer); break;
      case error_value::kind::natural: stored.push_back(value.natural); break;
      case error_value::kind::real: stored.push_back(value.real); break;
      case error_value::kind::text: stored.push_back(value.text); break;
    }
  throw error(code, fmt::vformat(fmt::string_view(format.data(), format.size()), stored));
}

}  // namespace longshore
