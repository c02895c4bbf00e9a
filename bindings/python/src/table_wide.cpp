#include "table_of.hpp"

namespace longshore::python {

std::shared_ptr<table> make_wide_table(team& ranks, std::size_t size, element type, bool cyclic) {
  if (bytes_of(type) == 4) return std::make_shared<table_of<std::uint32_t>>(ranks, size, type, table_distribution{cyclic});
  return std::make_shared<table_of<std::uint64_t>>(ranks, size, type, table_distribution{cyclic});
}

}  // namespace longshore::python
