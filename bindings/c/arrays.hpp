// Distributed arrays without their types: of words of 4 or 8 bytes, with all that gather, scatter
// and histogram need to know.
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

// with sanitizers, which the time to compile is for: the same loops, of one size of words
#ifdef LONGSHORE_C_FEW_TYPES
  using any_words = std::variant<words<std::int64_t>>;
#else
  using any_words = std::variant<words<std::uint32_t>, words<std::int64_t>>;
#endif

  longshore_array(longshore_team& of, int of_type, std::size_t word_bytes, std::uint64_t size,
                  longshore::bindings::chosen_distribution distribution);

  /// Calls body(dist_array) with the one there is.
  template <class Body>
  decltype(auto) with(Body&& body) {
#ifndef LONGSHORE_C_FEW_TYPES
    if (auto* const short_words = std::get_if<words<std::uint32_t>>(&elements))
      return body(*short_words);
#endif
    return body(*std::get_if<words<std::int64_t>>(&elements));
  }
  template <class Body>
  decltype(auto) with(Body&& body) const {
    return const_cast<longshore_array*>(this)->with([&](const auto& array) { return body(array); });
  }

  int type;
  any_words elements;

 private:
  static any_words make_words(longshore_team& of, std::size_t word_bytes, std::uint64_t size,
                              longshore::bindings::chosen_distribution distribution);
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
void check_requests(const std::int64_t* indices, std::int64_t count, const void* values,
                    bool may_be_null = false);

// The calls that the three kinds have alike. `make(table, options)` gives a plan of the kind.

template <class Plan, class Make>
int create_plan(longshore_array* table, const longshore_gather_options* options, Plan** plan,
                const Make& make) {
  return guarded([&] {
    longshore_array& of = usable(table, "the table");
    needed(plan, "the place for the plan");
    *plan = of.team().keep(make(of, options_of(options)));
  });
}

template <class Plan>
int run_plan(Plan* plan, const std::int64_t* indices, std::int64_t count, void* values,
             bool may_be_null = false) {
  return guarded([&] {
    check_requests(indices, count, values, may_be_null);
    usable(plan, "the plan").run({indices, static_cast<std::size_t>(count)}, values);
  });
}

/// With a plan that is made, used and freed.
template <class Make>
int run_once(longshore_array* table, const std::int64_t* indices, std::int64_t count, void* values,
             const longshore_gather_options* options, const Make& make, bool may_be_null = false) {
  return guarded([&] {
    longshore_array& of = usable(table, "the table");
    check_requests(indices, count, values, may_be_null);
    gather_options chosen = options_of(options);
    chosen.expected_requests = static_cast<std::size_t>(count);
    make(of, chosen)->run({indices, static_cast<std::size_t>(count)}, values);
  });
}

}  // namespace longshore::bindings
