// Makes the messages of both programs from the elements of each link.
#include <longshore/exchange/detail/copy_links.hpp>

namespace longshore::detail {

exchange_round round_builder::build(int me) && {
  exchange_round round;
  for (auto& [peer, parts] : outgoing_)
    if (peer != me) round.outgoing.push_back({peer, std::move(parts)});
  for (auto& [peer, parts] : incoming_) round.incoming.push_back({peer, std::move(parts)});
  return round;
}

void copy_links::add(const end& copies, const end& owned, std::size_t element_bytes) {
  const std::size_t bytes = copies.elements.size() * element_bytes;
  if (owned.rank == me_) {
    if (updates_) update_.give(copies.rank, {owned.memory, owned.elements});
    if (accumulates_)
      accumulate_.take(copies.rank,
                       {owned.memory, owned.elements, copies.memory, copies.elements, copies.rank});
    owned_bytes_ += bytes;
  }
  if (copies.rank == me_) {
    if (accumulates_) accumulate_.give(owned.rank, {copies.memory, copies.elements});
    if (updates_)
      update_.take(owned.rank,
                   {copies.memory, copies.elements, owned.memory, owned.elements, owned.rank});
    copied_bytes_ += bytes;
  }
}

std::vector<exchange_program> copy_links::programs() && {
  std::vector<exchange_program> programs(2);
  if (accumulates_) {
    programs[program_accumulate] = {{std::move(accumulate_).build(me_)}, copied_bytes_};
    programs[program_accumulate].rounds[0].combines = true;
  }
  if (updates_) programs[program_update] = {{std::move(update_).build(me_)}, owned_bytes_};
  return programs;
}

}  // namespace longshore::detail
