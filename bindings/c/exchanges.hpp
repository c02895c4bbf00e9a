// The calls that plans of halos, ghosts and boxes have in common: an operation is started, tested
// and waited for. The handle of such a plan is a resource with the members `plan`, which is the C++
// plan, and `in_flight`.
#pragma once

#include "elements.hpp"
#include "handles.hpp"

#include <longshore/device/stream.hpp>

#include <optional>

namespace longshore::bindings {

template <class Handle>
void complete_operation(Handle& of) {
  if (of.in_flight) of.plan.wait();
  of.in_flight = false;
}

/// Starts an operation of a plan by start(plan). Waits for it if `waits`.
template <class Handle, class Start>
int start_operation(Handle* plan, bool waits, const Start& start) {
  return guarded([&] {
    start(checked(plan, "the plan"));
    plan->in_flight = true;
    if (waits) plan->complete();
  });
}

/// Continues the operation without waiting.
template <class Handle>
int test_operation(Handle* plan, int* complete) {
  return guarded([&] {
    const bool is_complete = checked(plan, "the plan").plan.test();
    if (is_complete) plan->in_flight = false;
    if (complete != nullptr) *complete = is_complete ? 1 : 0;
  });
}
template <class Handle>
int wait_for_operation(Handle* plan, std::optional<device_stream> stream = {}) {
  return guarded([&] {
    checked(plan, "the plan").plan.wait(stream);
    plan->in_flight = false;
  });
}
template <class Handle>
int free_plan(Handle* plan) {
  if (plan == nullptr || !plan->in_flight) return free_object(plan);
  return guarded([&] {
    fail(errc::usage, "the {} has an operation in flight: wait for it before you free the plan",
         plan->kind());
  });
}

}  // namespace longshore::bindings

// The functions of C that end an operation of longshore_PLAN, and that free the plan.
#define LONGSHORE_CALLS_THAT_END(PLAN)                                                     \
  int longshore_##PLAN##_free(longshore_##PLAN* plan) { return free_plan(plan); }          \
  int longshore_##PLAN##_test(longshore_##PLAN* plan, int* complete) {                     \
    return test_operation(plan, complete);                                                 \
  }                                                                                        \
  int longshore_##PLAN##_wait(longshore_##PLAN* plan) { return wait_for_operation(plan); } \
  int longshore_##PLAN##_wait_on(longshore_##PLAN* plan, void* stream) {                   \
    return wait_for_operation(plan, stream);                                               \
  }

// The functions of C that combine copies of elements by VERB, accumulate or assemble. They call
// start_VERB(plan, waits, how [, part] [, stream]). The third argument is `part` for plans with
// parts, else there is none.
#define LONGSHORE_CALLS_THAT_COMBINE(PLAN, VERB, ...)                                   \
  int longshore_##PLAN##_start_##VERB(                                                  \
      longshore_##PLAN* plan,                                                           \
      int reduction __VA_OPT__(, const struct longshore_part* __VA_ARGS__)) {           \
    return start_##VERB(plan, false, reduction __VA_OPT__(, __VA_ARGS__));              \
  }                                                                                     \
  int longshore_##PLAN##_##VERB(                                                        \
      longshore_##PLAN* plan,                                                           \
      int reduction __VA_OPT__(, const struct longshore_part* __VA_ARGS__)) {           \
    return start_##VERB(plan, true, reduction __VA_OPT__(, __VA_ARGS__));               \
  }                                                                                     \
  int longshore_##PLAN##_start_##VERB##_by(                                             \
      longshore_##PLAN* plan, longshore_combine_function function,                      \
      void* context __VA_OPT__(, const struct longshore_part* __VA_ARGS__)) {           \
    return start_##VERB(plan, false,                                                    \
                        program_function{function, context} __VA_OPT__(, __VA_ARGS__)); \
  }                                                                                     \
  int longshore_##PLAN##_##VERB##_by(                                                   \
      longshore_##PLAN* plan, longshore_combine_function function,                      \
      void* context __VA_OPT__(, const struct longshore_part* __VA_ARGS__)) {           \
    return start_##VERB(plan, true,                                                     \
                        program_function{function, context} __VA_OPT__(, __VA_ARGS__)); \
  }                                                                                     \
  int longshore_##PLAN##_start_##VERB##_on(                                             \
      longshore_##PLAN* plan, int reduction,                                            \
      __VA_OPT__(const struct longshore_part* __VA_ARGS__, ) void* stream) {            \
    return start_##VERB(plan, false, reduction, __VA_OPT__(__VA_ARGS__, ) stream);      \
  }
