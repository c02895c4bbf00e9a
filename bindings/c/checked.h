/* What the test programs in C check with: a wrong fact ends the run with its line and rank. */
#ifndef LONGSHORE_TEST_CHECKED_H
#define LONGSHORE_TEST_CHECKED_H

#include "longshore.h"

#include <stdio.h>
#include <string.h>

#define CHECK(fact)                                                                     \
  do {                                                                                  \
    if (!(fact)) {                                                                      \
      fprintf(stderr, "%s:%d: not so: %s; last error: %s\n", __FILE__, __LINE__, #fact, \
              longshore_error_message());                                               \
      return LONGSHORE_ERROR_PROGRAM;                                                   \
    }                                                                                   \
  } while (0)

#define CHECK_OK(call) CHECK((call) == LONGSHORE_OK)

/* The call fails with this code, and its message has these words. */
#define CHECK_REFUSED(call, code, words)                     \
  do {                                                       \
    CHECK((call) == (code));                                 \
    CHECK(strstr(longshore_error_message(), words) != NULL); \
  } while (0)

#endif
