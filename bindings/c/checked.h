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

#endif
