// A meeting of all ranks, as the files of this folder use it: those of each node at a counter, the nodes' first ranks by signals, with which
// something else may go.
#pragma once

#include <longshore/transport/dissemination.hpp>
#include <longshore/transport/one_sided/control_block.hpp>
#include <longshore/transport/one_sided/team.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore::one_sided {

// A meeting has a number: who is a meeting ahead overwrites what is known already.
template <class Carry, class Before, class After>
void team::meet(const char* operation, const Carry& carry, const Before& before, const After& after) {
  untold_.tell();
  const auto between_nodes = [&] {
    before();
    if (nodes().node_count() > 1) {
      std::uint64_t& said = mine().meetings[++meetings_ & 1];
      said = meetings_;
      disseminate(nodes(), [&](int round, int to, int from) {
        carry(1 << round, to);
        const auto index = static_cast<std::size_t>(round);
        control_->put_with_signal(to, 0, nullptr, 0, offsetof(control_block, heard) + index * sizeof(std::uint64_t), &said);
        for (waiter wait(*this, operation, from); mine().heard[index].load(std::memory_order_acquire) < meetings_; wait.pause())
          library_.progress();
      });
    }
    after();
  };
  barrier_->wait(*this, rank() == my_leader(), between_nodes, operation);
}

}  // namespace longshore::one_sided
