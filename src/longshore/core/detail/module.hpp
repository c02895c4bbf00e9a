// Parts of Longshore that need foreign libraries: transports and tasking layers. In a static build,
// programs link them. In a shared build they are modules, files beside liblongshore.so, which are
// loaded when a program asks for them. So no program needs libraries that it does not use, and one
// installation serves machines with different libraries.
#pragma once

#include <string>

namespace longshore::detail {

/// Loads module `name` unless it is loaded, and returns the address of `symbol` in it. Else returns
/// null, and says in `why_missing` what is missing. A loaded module stays until the process ends.
/// Modules of other versions of Longshore are refused.
[[nodiscard]] const void* find_in_module(const char* name, const char* symbol,
                                         std::string& why_missing);

/// The entry of a part: what the other layers call.
template <class Entry>
struct found_part {
  std::string why_missing = "this build does not have it";  // for messages, without an entry
  const Entry* entry = nullptr;                             // after the text, which it may change

  found_part() = default;
  found_part(const Entry* linked) : entry(linked) {}
  found_part(const char* module, const char* symbol)
      : entry(static_cast<const Entry*>(find_in_module(module, symbol, why_missing))) {}
};

}  // namespace longshore::detail
