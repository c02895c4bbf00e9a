// Pattern sort for keys with a payload. There are few types and sizes, because each type takes time
// to compile.
#include "patterns/sort/sort_measurement.hpp"

namespace longshore::bench {
sort_maker sort_of_records(const std::string& key_type, long payload_bytes) {
  if (key_type == "uint32" && payload_bytes == 8) return make_sort<sorted_record<std::uint32_t, 8>>;
  if (key_type == "uint64" && payload_bytes == 8) return make_sort<sorted_record<std::uint64_t, 8>>;
  if (key_type == "uint64" && payload_bytes == 56)
    return make_sort<sorted_record<std::uint64_t, 56>>;
  return nullptr;
}

}  // namespace longshore::bench
