// Compiles tables whose elements have 4 or 8 bytes; table_narrow.cpp compiles all other tables.
#include "table_of.hpp"

namespace longshore::python {

std::shared_ptr<table> make_wide_table(team& ranks, std::size_t size, element type,
                                       table_distribution where) {
  if (bytes_of(type) == 4)
    return std::make_shared<table_of<std::uint32_t>>(ranks, size, type, where);
  return std::make_shared<table_of<std::uint64_t>>(ranks, size, type, where);
}

}  // namespace longshore::python
