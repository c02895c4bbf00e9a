#include "patterns/sort/sort_parameters.hpp"

#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/memory.hpp>

#include <map>

namespace longshore::bench {
namespace {

constexpr std::uint64_t iso_bucket_width = 8192;  // as in ISx

}  // namespace

key_share key_share_of(const team& ranks, const variant& what) {
  const auto keys = what.at("keys").get<std::uint64_t>();
  const auto rank = static_cast<std::uint64_t>(ranks.rank()),
             size = static_cast<std::uint64_t>(ranks.size());
  if (what.at("scaling") != "strong") return {keys, keys * rank, keys * size};
  const std::uint64_t each = keys / size, more = keys % size;
  return {each + (rank < more ? 1 : 0), each * rank + std::min(rank, more), keys};
}

std::uint64_t max_key_of(const variant& what, int ranks) {
  return what.at("scaling") == "weak-iso" ? iso_bucket_width * static_cast<std::uint64_t>(ranks)
                                          : what.at("max_key").get<std::uint64_t>();
}

std::uint64_t largest_max_key(const std::string& key_type) {
  static const std::map<std::string, int> bits = {
      {"uint8", 8}, {"uint32", 32}, {"uint64", 40}, {"double", 40}};
  return std::uint64_t{1} << bits.at(key_type);
}

task_options sort_tasks_of(const team& ranks, const variant& what) {
  const std::string layer = what.at("tasks");
  const int cpus = static_cast<int>(ranks.cpus().size());
  const int count = what.contains("task_count") ? what.at("task_count").get<int>()
                    : layer == "serial"         ? 1
                                                : cpus;
  return {.layer = layer,
          .count = count,
          .cpus = ranks.cpus(),
          .pin = allowed_cpus().size() == 1,
          .spin = ranks.waiting().spin && count <= cpus};
}

bucket_options bucket_options_of(const variant& what, const launch_facts& facts,
                                 std::uint64_t max_key, tasks& workers) {
  return {.exchange = exchange_strategy_of(what.at("exchange").get<std::string>()),
          .order = exchange_order_of(what.at("order").get<std::string>()),
          .max_key = max_key,
          .seed = facts.seed,
          .stable = what.at("stable") == "yes",
          .splitters = what.at("splitters") == "sampled" ? bucket_splitters::sampled
                                                         : bucket_splitters::equal_width,
          .barrier_before_exchange = what.contains("meet"),
          .workers = &workers};
}

std::size_t checked_item_bytes(team& ranks, std::size_t items, std::size_t item_bytes) {
  const auto sharing = static_cast<std::size_t>(ranks.nodes().ranks_on_host());
  const auto available = static_cast<std::size_t>(ranks.allreduce_value(
      static_cast<std::int64_t>(std::min(available_memory_bytes(), std::size_t{1} << 62)),
      reduction::min));
  const std::size_t most = available / (3 * item_bytes) / sharing;
  if (ranks.allreduce_value(items > most ? 1 : 0, reduction::max) == 1)
    fail(errc::out_of_memory,
         "{} keys on each of {} ranks, {} bytes each with what belongs to them, and twice as much "
         "to sort them, do not fit into "
         "the {} "
         "bytes available",
         items, sharing, item_bytes, available);
  return items * item_bytes;
}

}  // namespace longshore::bench
