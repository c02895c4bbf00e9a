// Distributed arrays behind the C interface, and the common parts of gather, scatter and update.
// Arrays hold words of 4 or 8 bytes: the type of the elements is known only at run time.
#pragma once

#include "chosen_distribution.hpp"
#include "handles.hpp"
#include "longshore.h"

#include <longshore/array/dist_array.hpp>
#include <longshore/gather/options.hpp>

#include <span>
#include <variant>

struct longshore_array : longshore::bindings::resource {
  template <class Word>
  using words = longshore::dist_array<Word, longshore::bindings::chosen_distribution>;

// Builds with sanitizers compile the loops only for words of 8 bytes, to save compile time. They
// refuse arrays of words of 4 bytes.
#ifdef LONGSHORE_C_FEW_TYPES
  using any_words = std::variant<words<std::int64_t>>;
#else
  using any_words = std::variant<words<std::uint32_t>, words<std::int64_t>>;
#endif

  /// REQUIRES: word_bytes is 4 or 8, and is the size of the elements.
  longshore_array(longshore_team& owner, int of_type, std::size_t word_bytes, std::uint64_t size,
                  longshore::bindings::chosen_distribution distribution);

  /// Calls body(array) with the dist_array for the word size of this array.
  template <class Body>
  decltype(auto) visit(Body&& body) {
#ifndef LONGSHORE_C_FEW_TYPES
    if (auto* const short_words = std::get_if<words<std::uint32_t>>(&elements))
      return body(*short_words);
#endif
    // The variant has no other alternative, so the pointer is not null.
    return body(*std::get_if<words<std::int64_t>>(&elements));
  }
  template <class Body>
  decltype(auto) visit(Body&& body) const {
    return const_cast<longshore_array*>(this)->visit(
        [&](const auto& array) { return body(array); });
  }

  int type;
  any_words elements;

 private:
  static any_words make_words(longshore_team& owner, int type, std::size_t word_bytes,
                              std::uint64_t size,
                              longshore::bindings::chosen_distribution distribution);
};

namespace longshore::bindings {

/// The base class of the plans for gather, scatter and update. `values` is the output of gathers
/// and the input of scatters and updates, which do not write it.
class request_plan : public resource {
 public:
  request_plan(longshore_array& table, const char* kind) : resource(table.team(), kind, {&table}) {}
  virtual void run(std::span<const std::int64_t> indices, void* values) = 0;
  [[nodiscard]] virtual gather_strategy strategy() const = 0;
};

/// A plan whose values are a span of `Value`. `Plan` is the C++ plan, and `Handle` the type of C.
template <class Handle, class Plan, class Value>
class plan_of final : public Handle {
 public:
  template <class Words>
  plan_of(longshore_array& table, const char* kind, Words& words, const gather_options& options)
      : Handle(table, kind), plan_(words, options) {}
  void run(std::span<const std::int64_t> indices, void* values) override {
    plan_(indices, std::span<Value>(static_cast<Value*>(values), indices.size()));
  }
  [[nodiscard]] gather_strategy strategy() const override { return plan_.strategy(); }

 private:
  Plan plan_;
};

[[nodiscard]] gather_options options_of(const longshore_gather_options* given);
/// Throws errc::usage if there are requests and a pointer is NULL. `may_be_null`: allows NULL
/// `values`.
void check_requests(const std::int64_t* indices, std::int64_t count, const void* values,
                    bool may_be_null);

// The bodies of the C functions that create, run and use plans once, for all kinds of plans.
// `make(table, options)` returns a new plan in a std::unique_ptr.

template <class Plan, class Make>
int create_plan(longshore_array* table, const longshore_gather_options* options, Plan** plan,
                const Make& make) {
  return guarded([&] {
    longshore_array& array = checked(table, "the table");
    required(plan, "the pointer for the plan");
    const auto chosen =
        read_on_all_ranks(array.team(), "a plan", [&] { return options_of(options); });
    *plan = array.team().keep(make(array, chosen));
  });
}

template <class Plan>
int run_plan(Plan* plan, const std::int64_t* indices, std::int64_t count, void* values,
             bool may_be_null) {
  return guarded([&] {
    check_requests(indices, count, values, may_be_null);
    checked(plan, "the plan").run({indices, static_cast<std::size_t>(count)}, values);
  });
}

/// Creates a plan, runs the plan once and destroys it.
template <class Make>
int run_once(longshore_array* table, const std::int64_t* indices, std::int64_t count, void* values,
             const longshore_gather_options* options, const Make& make, bool may_be_null) {
  return guarded([&] {
    longshore_array& array = checked(table, "the table");
    const auto chosen = read_on_all_ranks(array.team(), "a plan", [&] {
      check_requests(indices, count, values, may_be_null);
      gather_options given = options_of(options);
      given.expected_requests = static_cast<std::size_t>(count);
      return given;
    });
    make(array, chosen)->run({indices, static_cast<std::size_t>(count)}, values);
  });
}

}  // namespace longshore::bindings

// The functions of C for plans of PLAN, gather, scatter or histogram. VALUES is the type of their
// last array. MAKE(table, options) makes a plan. MAY_BE_NULL: see check_requests().
#define LONGSHORE_CALLS_OF_REQUESTS(PLAN, VALUES, MAKE, MAY_BE_NULL)                               \
  int longshore_##PLAN##_create(longshore_array* table,                                            \
                                const struct longshore_gather_options* options,                    \
                                longshore_##PLAN##_plan** plan) {                                  \
    return create_plan(table, options, plan, MAKE);                                                \
  }                                                                                                \
  int longshore_##PLAN##_free(longshore_##PLAN##_plan* plan) { return free_object(plan); }         \
  int longshore_##PLAN##_run(longshore_##PLAN##_plan* plan, const int64_t* indices, int64_t count, \
                             VALUES values) {                                                      \
    return run_plan(plan, indices, count, const_cast<void*>(values), MAY_BE_NULL);                 \
  }                                                                                                \
  const char* longshore_##PLAN##_strategy(const longshore_##PLAN##_plan* plan) {                   \
    return name_of(existing(plan, "the plan").strategy()).data();                                  \
  }                                                                                                \
  int longshore_##PLAN(longshore_array* table, const int64_t* indices, int64_t count,              \
                       VALUES values, const struct longshore_gather_options* options) {            \
    return run_once(table, indices, count, const_cast<void*>(values), options, MAKE, MAY_BE_NULL); \
  }
