// Computes the parameters of a sort from the levels of its variant.
#include "patterns/sort/sort_parameters.hpp"

#include "patterns/memory_check.hpp"

#include <fmt/core.h>

#include <map>

namespace longshore::bench {
namespace {

constexpr std::uint64_t iso_bucket_width = 8192;  // as in ISx

}  // namespace

key_share key_share_of(const team& ranks, const variant& levels) {
  const auto keys = levels.at("keys").get<std::uint64_t>();
  const auto rank = static_cast<std::uint64_t>(ranks.rank()),
             size = static_cast<std::uint64_t>(ranks.size());
  if (levels.at("scaling") != "strong") return {keys, keys * rank, keys * size};
  const std::uint64_t base = keys / size, ranks_with_more = keys % size;
  return {base + (rank < ranks_with_more ? 1 : 0), base * rank + std::min(rank, ranks_with_more),
          keys};
}

std::uint64_t max_key_of(const variant& levels, int ranks) {
  return levels.at("scaling") == "weak-iso" ? iso_bucket_width * static_cast<std::uint64_t>(ranks)
                                            : levels.at("max_key").get<std::uint64_t>();
}

std::uint64_t largest_max_key(const std::string& key_type) {
  // 40 bits are the upper limit of factor max-key, and doubles hold such numbers exactly.
  static const std::map<std::string, int> bits = {
      {"uint8", 8}, {"uint32", 32}, {"uint64", 40}, {"double", 40}};
  return std::uint64_t{1} << bits.at(key_type);
}

bucket_options bucket_options_of(const variant& levels, const launch_facts& facts,
                                 std::uint64_t max_key, tasks& workers) {
  return {.exchange = level_of<exchange_strategy>(levels, "exchange"),
          .order = level_of<exchange_order>(levels, "order"),
          .max_key = max_key,
          .seed = facts.seed,
          .stable = levels.at("stable") == "yes",
          .splitters = levels.at("splitters") == "sampled" ? bucket_splitters::sampled
                                                           : bucket_splitters::equal_width,
          // settle() removes level "no", so that the factor is present only as "yes".
          .barrier_before_exchange = levels.contains("meet"),
          .workers = &workers};
}

std::size_t checked_item_bytes(team& ranks, std::size_t items, std::size_t item_bytes) {
  check_memory(ranks, fmt::format("{} items, and twice as much memory to sort them,", items),
               3.0 * static_cast<double>(items) * static_cast<double>(item_bytes));
  return items * item_bytes;
}

}  // namespace longshore::bench
