// Pattern sort (ISx, followed by a complete sort): its factors, and the combinations of factors
// that are possible.
#include "harness/task_factors.hpp"
#include "patterns/patterns.hpp"
#include "patterns/sort/sort_measurement.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace longshore::bench {
namespace {

constexpr long default_max_key = 1L << 28;

std::vector<factor> factors() {
  constexpr long max_payload = 4096, max_tasks = 4096;
  return {
      word_factor("exchange", names_in<exchange_strategy>(), "put",
                  "how keys reach the rank of their bucket"),
      word_factor("order", names_in<exchange_order>(), "round-robin",
                  "the order in which a rank sends to the others"),
      integer_factor("keys", "4194304",
                     "keys per rank; keys of all ranks together with strong scaling"),
      word_factor("scaling", {"weak", "strong", "weak-iso"}, "weak",
                  "weak-iso: the range of keys is 8192 per rank, whatever --max-key says"),
      integer_factor("max-key", std::to_string(default_max_key),
                     "keys are numbers below this, and below what their type holds"),
      word_factor("key-pattern", {"uniform", "zipf", "sorted", "all-equal"}, "uniform",
                  "distribution of the keys"),
      word_factor("key-type", {"uint8", "uint32", "uint64", "double"}, "uint32", "type of a key"),
      integer_factor(
          "payload", "0",
          "bytes that travel with each key: 0, 8 (key types uint32, uint64) or 56 (uint64)", 0,
          max_payload),
      word_factor(
          "splitters", {"equal-width", "sampled"}, "equal-width",
          "ends of the buckets: sampled gives all ranks equally many keys, for any distribution"),
      word_factor("stable", {"no", "yes"}, "no", "whether items with equal keys keep their order"),
      word_factor(
          "meet", {"no", "yes"}, "no",
          "yes: a barrier before the exchange, so that its time excludes waiting for late ranks"),
      word_factor("tasks", task_layer_names(), "serial",
                  "tasking layer that counts, bucketizes and sorts within a rank"),
      integer_factor("task-count", "", "tasks of each rank", 1, max_tasks),
  };
}

// The function that makes the measurement for keys with a payload, or null. There are few types and
// sizes, because each type takes time to compile.
sort_maker sort_of_records(const std::string& key_type, long payload_bytes) {
  if (key_type == "uint32" && payload_bytes == 8) return make_sort<sorted_record<std::uint32_t, 8>>;
  if (key_type == "uint64" && payload_bytes == 8) return make_sort<sorted_record<std::uint64_t, 8>>;
  if (key_type == "uint64" && payload_bytes == 56)
    return make_sort<sorted_record<std::uint64_t, 56>>;
  return nullptr;
}

sort_maker maker_of(const variant& levels) {
  const std::string type = levels.at("key_type");
  const long payload = levels.at("payload");
  return payload == 0 ? sort_of_keys(type) : sort_of_records(type, payload);
}

std::optional<std::string> why_not_here(const variant& levels, const launch_facts& facts) {
  if (auto reason = why_no_tasks(levels.at("tasks").get<std::string>(), task_count_of(levels)))
    return reason;
  const std::string type = levels.at("key_type");
  if (levels.at("scaling") == "weak-iso" && max_key_of(levels, facts.ranks) > largest_max_key(type))
    return fmt::format("weak-iso with {} ranks needs keys that {} cannot hold", facts.ranks, type);
  if (maker_of(levels) == nullptr)
    return fmt::format(
        "keys of type {} with a payload of {} bytes are not built in: 8 bytes with uint32, 8 or 56 "
        "with uint64",
        type, levels.at("payload").get<long>());
  const auto exchange = level_of<exchange_strategy>(levels, "exchange");
  if (levels.at("stable") == "yes" && !is_deterministic(exchange))
    return fmt::format(
        "with exchange {} the order of incoming keys depends on the arrival of messages: no stable "
        "sort",
        name_of(exchange));
  return why_not(
      exchange, level_of<exchange_order>(levels, "order"),
      {.mpi = facts.transport == "mpi", .nodes = facts.nodes, .largest_node = facts.largest_node});
}

// Room for twice the mean number of incoming keys. With skewed keys a rank may receive all keys.
std::size_t needed_symmetric_bytes(const variant& levels, int ranks) {
  constexpr std::size_t largest_key_bytes = 8;
  const auto keys = levels.at("keys").get<std::size_t>(), peers = static_cast<std::size_t>(ranks);
  const std::size_t incoming_keys = levels.at("key_pattern") == "uniform" ? 2 * keys : keys * peers;
  return incoming_keys / (levels.at("scaling") == "strong" ? peers : 1) *
         (largest_key_bytes + levels.at("payload").get<std::size_t>());
}

}  // namespace

pattern sort_pattern() {
  return {.name = "sort",
          .help = "bucket sort (ISx), of keys or records",
          .factors = factors(),
          .examples = {"longshore-bench sort --ranks 2 --exchange put,direct,alltoallv",
                       "mpirun -n 4 longshore-bench sort --exchange put --order round-robin,random "
                       "--keys 1048576 --scaling weak,strong"},
          .why_not = why_not_here,
          .make = [](team& ranks, const variant& levels, const launch_facts& facts)
              -> std::unique_ptr<measurement> { return maker_of(levels)(ranks, levels, facts); },
          .settle =
              [](variant& levels) {
                // Records of sorts without the barrier have no factor `meet`.
                if (levels.at("meet") == "no") levels.erase("meet");
                if (levels.at("scaling") == "weak-iso")
                  levels.erase("max_key");
                else
                  levels["max_key"] = std::min(levels.at("max_key").get<std::uint64_t>(),
                                               largest_max_key(levels.at("key_type")));
              },
          .symmetric_bytes = needed_symmetric_bytes};
}

}  // namespace longshore::bench
