/* Compiles the header as C99, the oldest standard that it supports. It is never run.
 * header_test.cpp compiles it as C++98. */
#include "longshore.h"

int header_test(longshore_team* team);

int header_test(longshore_team* team) {
  struct longshore_gather_options gather;
  struct longshore_field field;
  longshore_array* table = NULL;
  const int64_t cells[3] = {4, 4, 4};
  const int width[3] = {1, 1, 1};
  gather.strategy = NULL;
  longshore_field_dense(&field, NULL, LONGSHORE_FLOAT64, cells, width, width);
  if (longshore_array_create(team, LONGSHORE_INT64, 0, 10, NULL, &table) != LONGSHORE_OK)
    return LONGSHORE_ERROR_PROGRAM;
  return longshore_gather(table, cells, 3, field.first, &gather);
}
