// Makes the messages of both programs from the elements of each link.
#include <longshore/exchange/detail/copy_links.hpp>

#include <utility>

namespace longshore::detail {

void copy_links::add(const end& copies, const end& owned, std::size_t element_bytes) {
  const std::size_t bytes = copies.elements.size() * element_bytes;
  if (owned.rank == me_) {
    auto& link = links_[copies.rank];
    if (updates_) link.owned_out.push_back({owned.memory, owned.elements});
    if (accumulates_)
      link.copies_in.push_back(
          {owned.memory, owned.elements, copies.memory, copies.elements, copies.rank});
    owned_bytes_ += bytes;
  }
  if (copies.rank == me_) {
    auto& link = links_[owned.rank];
    if (accumulates_) link.copies_out.push_back({copies.memory, copies.elements});
    if (updates_)
      link.owned_in.push_back(
          {copies.memory, copies.elements, owned.memory, owned.elements, owned.rank});
    copied_bytes_ += bytes;
  }
}

std::vector<exchange_program> copy_links::programs() && {
  exchange_round accumulate{.combines = true}, update;
  for (auto& [peer, link] : links_) {
    if (peer != me_) {
      if (!link.copies_out.empty())
        accumulate.outgoing.push_back({peer, std::move(link.copies_out)});
      if (!link.owned_out.empty()) update.outgoing.push_back({peer, std::move(link.owned_out)});
    }
    if (!link.copies_in.empty()) accumulate.incoming.push_back({peer, std::move(link.copies_in)});
    if (!link.owned_in.empty()) update.incoming.push_back({peer, std::move(link.owned_in)});
  }
  std::vector<exchange_program> programs(2);
  if (accumulates_) programs[program_accumulate] = {{std::move(accumulate)}, copied_bytes_};
  if (updates_) programs[program_update] = {{std::move(update)}, owned_bytes_};
  return programs;
}

}  // namespace longshore::detail
