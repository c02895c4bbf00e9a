/* Checks for the test programs in C. A failed check prints its line and ends the run. */
#ifndef LONGSHORE_TEST_CHECKED_H
#define LONGSHORE_TEST_CHECKED_H

#include "longshore.h"

#include <stdio.h>
#include <string.h>

#define CHECK(fact)                                                                           \
  do {                                                                                        \
    if (!(fact)) {                                                                            \
      fprintf(stderr, "%s:%d: check failed: %s; last error: %s\n", __FILE__, __LINE__, #fact, \
              longshore_error_message());                                                     \
      return LONGSHORE_ERROR_PROGRAM;                                                         \
    }                                                                                         \
  } while (0)

/* Returns the result of a check that failed. */
#define PASS(call)                             \
  do {                                         \
    const int status = (call);                 \
    if (status != LONGSHORE_OK) return status; \
  } while (0)

#define CHECK_OK(call) CHECK((call) == LONGSHORE_OK)

/* Checks that the call fails with this code, and that the message contains these words. */
#define CHECK_REFUSED(call, code, words)                     \
  do {                                                       \
    CHECK((call) == (code));                                 \
    CHECK(strstr(longshore_error_message(), words) != NULL); \
  } while (0)
/* The arguments of some ranks are wrong: the others get LONGSHORE_ERROR_PEER_FAILED. */
#define CHECK_REFUSED_BY_ALL(call, words)                    \
  do {                                                       \
    CHECK((call) != LONGSHORE_OK);                           \
    CHECK(strstr(longshore_error_message(), words) != NULL); \
  } while (0)

/* A function whose result depends on the order of the ghosts, and on the number of the field. */
static inline double mixed(int field, double element, double ghost) {
  return (double)(((5 + field) * (int64_t)element + (int64_t)ghost) % 1009);
}

/* The addresses of a pair of a batch. */
static inline void* element_of(const struct longshore_combine_batch* batch, int64_t pair) {
  const int64_t at = batch->element_index ? (int64_t)batch->element_index[pair] : pair;
  return (char*)batch->elements + at * batch->element_stride_bytes;
}
static inline const void* ghost_of(const struct longshore_combine_batch* batch, int64_t pair) {
  const int64_t at = batch->ghost_index ? (int64_t)batch->ghost_index[pair] : pair;
  return (const char*)batch->ghosts + at * batch->ghost_stride_bytes;
}

#endif
