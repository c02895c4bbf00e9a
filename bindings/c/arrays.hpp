// Distributed arrays without their types: of words of 4 or 8 bytes, with all that gather, scatter and histogram need to know.
#pragma once

#include "chosen_distribution.hpp"
#include "handles.hpp"
#include "longshore.h"

#include <longshore/array/dist_array.hpp>
#include <longshore/gather/options.hpp>

#include <span>
#include <variant>

struct longshore_array : longshore::bindings::owned {
  template <class Word>
  using words = longshore::dist_array<Word, longshore::bindings::chosen_distribution>;

  longshore_array(longshore_team& of, int of_type, std::size_t word_bytes, std::uint64_t size, bool is_cyclic);

  /// Calls body(dist_array) with the one there is.
  template <class Body>
  decltype(auto) with(Body&& body) {
    if (auto* const short_words = std::get_if<words<std::uint32_t>>(&elements)) return body(*short_words);
    return body(*std::get_if<words<std::int64_t>>(&elements));
  }
  template <class Body>
  decltype(auto) with(Body&& body) const {
    return const_cast<longshore_array*>(this)->with([&](const auto& array) { return body(array); });
  }

  int type;
  std::variant<words<std::uint32_t>, words<std::int64_t>> elements;
};

namespace longshore::bindings {

/// What a plan of each of the three kinds does. `values` is what is read or written, by kind.
class request_plan : public owned {
 public:
  request_plan(longshore_array& table, const char* kind) : owned(table.team(), kind, {&table}) {}
  virtual void run(std::span<const std::int64_t> indices, void* values) = 0;
  [[nodiscard]] virtual gather_strategy strategy() const = 0;
};

[[nodiscard]] gather_options options_of(const longshore_gather_options* given);
/// Throws errc::usage where there are requests, but NULL for what they need.
void check_requests(const std::int64_t* indices, std::int64_t count, const void* values, bool may_be_null = false);

}  // namespace longshore::bindings
