#include <longshore/sort/verify.hpp>

#include <fmt/core.h>

namespace longshore::detail {
namespace {

void add_fault(std::string& text, const std::string& fault) {
  text += (text.empty() ? "" : "; ") + fault;
}

void check_checksums(const std::vector<sorted_part>& parts, sort_faults& faults) {
  key_checksum before, after;
  for (const auto& part : parts)
    for (auto [total, of_rank] :
         {std::pair{&before, &part.before}, std::pair{&after, &part.after}}) {
      total->count += of_rank->count;
      total->sum += of_rank->sum;
      total->xored ^= of_rank->xored;
      total->payload_sum += of_rank->payload_sum;
      total->payload_xored ^= of_rank->payload_xored;
    }
  faults.lost = after.count < before.count;
  faults.doubled = after.count > before.count;
  const bool same_keys = after.sum == before.sum && after.xored == before.xored;
  faults.changed = after.count == before.count && !same_keys;
  faults.torn = after.count == before.count && same_keys && after != before;
  if (faults.lost)
    add_fault(faults.text,
              fmt::format("keys were lost: {} of {} are left", after.count, before.count));
  if (faults.doubled)
    add_fault(faults.text,
              fmt::format("keys were duplicated: {} before, {} after", before.count, after.count));
  if (faults.changed)
    add_fault(faults.text, "keys were changed: there are as many as before, but not the same");
  if (faults.torn)
    add_fault(faults.text, "payloads belong to other keys than before: the keys are the same");
}

void check_order(const std::vector<sorted_part>& parts, sort_faults& faults) {
  const sorted_part* previous = nullptr;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const auto& part = parts[rank];
    if (part.first_out_of_order != part.after.count) {
      if (!faults.order_within)
        add_fault(faults.text, fmt::format("keys are out of order within rank {}: the key at "
                                           "position {} is below its predecessor",
                                           rank, part.first_out_of_order));
      faults.order_within = true;
    }
    if (part.first_unstable != part.after.count) {
      if (!faults.unstable)
        add_fault(faults.text,
                  fmt::format("items with equal keys changed their order within rank {}: the item "
                              "at position {} was before its predecessor",
                              rank, part.first_unstable));
      faults.unstable = true;
    }
    if (part.after.count == 0) continue;
    if (previous != nullptr && part.first < previous->last) {
      if (!faults.order_across)
        add_fault(faults.text, fmt::format("keys are out of order across ranks: rank {} has a key "
                                           "below a key of an earlier rank",
                                           rank));
      faults.order_across = true;
    }
    if (previous != nullptr && part.first == previous->last &&
        part.first_origin < previous->last_origin) {
      if (!faults.unstable)
        add_fault(faults.text,
                  fmt::format("items with equal keys changed their order across ranks: the first "
                              "item of rank {} was before the last item of an earlier rank",
                              rank));
      faults.unstable = true;
    }
    previous = &part;
  }
}

}  // namespace

sort_faults check_parts(team& team, const sorted_part& mine) {
  const std::vector<sorted_part> parts = team.allgather_value(mine);
  sort_faults faults;
  check_checksums(parts, faults);
  check_order(parts, faults);
  return faults;
}

}  // namespace longshore::detail
