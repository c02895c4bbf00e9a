// A meeting of all ranks, as the files of this folder use it: those of each node at a counter, the
// nodes' first ranks by signals, with which something else may go.
#pragma once

#include <longshore/transport/detail/dissemination.hpp>
#include <longshore/transport/one_sided/control_block.hpp>
#include <longshore/transport/one_sided/team.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore::one_sided {

template <class Carry, class Before, class After>
void team::meet(const detail::collective_call& call, const Carry& carry, const Before& before,
                const After& after) {
  untold_.tell();
  ++meetings_;
  barrier_->wait(*this, call, [&](detail::disagreement& found) {
    if (!found.found) before();
    if (nodes().node_count() > 1) meet_nodes(call, found, carry);
    if (!found.found) after();
  });
}

// Each node learns in the last round at the latest that one of them is in another call: who has
// heard of it says so in all rounds that follow.
template <class Carry>
void team::meet_nodes(const detail::collective_call& call, detail::disagreement& found,
                      const Carry& carry) {
  const auto parity = meetings_ & 1;
  auto& said = mine().said[parity];
  said = {meeting_word::of(meetings_, call), meeting_word::of_disagreement(meetings_)};
  detail::disseminate(nodes(), [&](int round, int to, int from) {
    if (found.found)
      mine().barrier.found = found;  // for those who hear of it
    else
      carry(1 << round, to);
    const auto index = static_cast<std::size_t>(round);
    auto& heard = mine().heard[parity][index];
    const std::size_t at = offsetof(control_block, heard) +
                           sizeof heard * (parity * control_block::most_rounds + index);
    control_->put_with_signal(to, 0, nullptr, 0, at, &said[found.found ? 1 : 0]);
    std::uint64_t word = 0;
    for (waiter wait(*this, name_of(call.what), from);
         meeting_word::meeting_in(word = heard.load(std::memory_order_acquire)) < meetings_;
         wait.pause())
      library_.progress();
    if (word != said[0] && !found.found) [[unlikely]]
      found = disagreement_with(from, meeting_word::agrees(word));
  });
}

}  // namespace longshore::one_sided
