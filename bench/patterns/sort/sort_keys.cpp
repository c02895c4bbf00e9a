// Pattern sort for keys without payload. There are few types, because each type takes time to
// compile.
#include "patterns/sort/sort_measurement.hpp"

namespace longshore::bench {

sort_maker sort_of_keys(const std::string& key_type) {
  if (key_type == "uint8") return make_sort<std::uint8_t>;
  if (key_type == "uint32") return make_sort<std::uint32_t>;
  if (key_type == "uint64") return make_sort<std::uint64_t>;
  if (key_type == "double") return make_sort<double>;
  return nullptr;
}

}  // namespace longshore::bench
