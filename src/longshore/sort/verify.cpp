// Compares the checksums and the ends of the sorted parts of all ranks, and describes each fault.
#include <longshore/sort/verify.hpp>

#include <fmt/core.h>

#include <utility>

namespace longshore::detail {
namespace {

// Sets one of the members of `faults`. The text describes only the first fault of each kind.
void report(sort_faults& faults, bool& fault, const std::string& text) {
  if (std::exchange(fault, true)) return;
  faults.text += (faults.text.empty() ? "" : "; ") + text;
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
  if (after.count < before.count)
    report(faults, faults.lost,
           fmt::format("keys were lost: {} of {} are left", after.count, before.count));
  else if (after.count > before.count)
    report(faults, faults.doubled,
           fmt::format("keys were duplicated: {} before, {} after", before.count, after.count));
  else if (after.sum != before.sum || after.xored != before.xored)
    report(faults, faults.changed,
           "keys were changed: there are as many as before, but not the same");
  else if (after != before)
    report(faults, faults.torn, "payloads belong to other keys than before: the keys are the same");
}

void check_order(const std::vector<sorted_part>& parts, sort_faults& faults) {
  const sorted_part* previous = nullptr;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    const auto& part = parts[rank];
    if (part.first_out_of_order != part.after.count)
      report(faults, faults.order_within,
             fmt::format("keys are out of order within rank {}: the key at position {} is below "
                         "its predecessor",
                         rank, part.first_out_of_order));
    if (part.first_unstable != part.after.count)
      report(faults, faults.unstable,
             fmt::format("items with equal keys changed their order within rank {}: the item at "
                         "position {} was before its predecessor",
                         rank, part.first_unstable));
    if (part.after.count == 0) continue;
    if (previous != nullptr && part.first < previous->last)
      report(faults, faults.order_across,
             fmt::format("keys are out of order across ranks: rank {} has a key below a key of an "
                         "earlier rank",
                         rank));
    if (previous != nullptr && part.first == previous->last &&
        part.first_origin < previous->last_origin)
      report(faults, faults.unstable,
             fmt::format("items with equal keys changed their order across ranks: the first item "
                         "of rank {} was before the last item of an earlier rank",
                         rank));
    previous = &part;
  }
}

}  // namespace

sort_faults check_parts(team& team, const sorted_part& part) {
  const std::vector<sorted_part> parts = team.allgather_value(part);
  sort_faults faults;
  check_checksums(parts, faults);
  check_order(parts, faults);
  return faults;
}

}  // namespace longshore::detail
