// Pattern sort for keys with a payload: a few types and sizes, because each is compiled by itself.
#include "sort_measurement.hpp"

namespace longshore::bench {
namespace {

template <class Key>
sort_maker of_payload(long payload_bytes) {
  if (payload_bytes == 8) return make_sort<sorted_record<Key, 8>>;
  if (payload_bytes == 56) return make_sort<sorted_record<Key, 56>>;
  return nullptr;
}

}  // namespace

sort_maker sort_of_records(const std::string& key_type, long payload_bytes) {
  if (key_type == "uint32") return of_payload<std::uint32_t>(payload_bytes);
  if (key_type == "uint64") return of_payload<std::uint64_t>(payload_bytes);
  if (key_type == "double") return of_payload<double>(payload_bytes);
  return nullptr;
}

}  // namespace longshore::bench
