// Compiles tables whose elements have 1 or 2 bytes. These tables are rare, so that CMakeLists.txt
// compiles this file with less optimisation than table_wide.cpp, which has all other tables.
#include "table_of.hpp"

namespace longshore::python {

std::shared_ptr<table> make_narrow_table(team& ranks, std::size_t size, element type,
                                         table_distribution where) {
  if (bytes_of(type) == 1)
    return std::make_shared<table_of<std::uint8_t>>(ranks, size, type, where);
  return std::make_shared<table_of<std::uint16_t>>(ranks, size, type, where);
}

}  // namespace longshore::python
