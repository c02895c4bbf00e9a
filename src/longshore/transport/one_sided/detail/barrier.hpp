// The barrier of all ranks: a counter within each node, and signals between the first ranks of the
// nodes. The data of a collective are sent together with the signals.
#pragma once

#include <longshore/transport/detail/dissemination.hpp>
#include <longshore/transport/one_sided/detail/control_block.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/waiter.hpp>

namespace longshore::one_sided {

template <class SendWith, class NodeArrived, class AllArrived>
void team::checked_barrier(const collective_call& call, const SendWith& send_with,
                           const NodeArrived& when_node_arrived,
                           const AllArrived& when_all_arrived) {
  library_.credits().send_all();
  ++barrier_count_;
  barrier_->wait(*this, call, [&](call_mismatch& mismatch) {
    if (!mismatch.found) when_node_arrived();
    if (nodes().node_count() > 1) barrier_between_nodes(call, mismatch, send_with);
    if (!mismatch.found) when_all_arrived();
  });
}

// A node that knows of a mismatch sends this fact in all following rounds. So after the last round
// every node knows of the mismatch.
template <class SendWith>
void team::barrier_between_nodes(const collective_call& call, call_mismatch& mismatch,
                                 const SendWith& send_with) {
  const auto parity = barrier_count_ & 1;
  auto& signals = own_control().sent_signals[parity];
  signals = {barrier_signal::of(barrier_count_, call), barrier_signal::of_mismatch(barrier_count_)};
  detail::disseminate(nodes(), [&](int round, int to, int from) {
    if (mismatch.found)
      own_control().barrier.mismatch = mismatch;  // the receiver of the signal gets it
    else
      send_with(1 << round, to);
    const auto index = static_cast<std::size_t>(round);
    auto& received = own_control().received_signals[parity][index];
    const std::size_t offset = offsetof(control_block, received_signals) +
                               sizeof received * (parity * control_block::max_rounds + index);
    control_->put_with_signal(to, 0, nullptr, 0, offset, &signals[mismatch.found ? 1 : 0]);
    std::uint64_t signal = 0;
    for (waiter wait(*this, name_of(call.kind), from);
         barrier_signal::barrier_in(signal = received.load(std::memory_order_acquire)) <
         barrier_count_;
         wait.pause())
      library_.progress();
    charge("received_signals", 1);
    if (signal != signals[0] && !mismatch.found) [[unlikely]]
      mismatch = mismatch_with(from, barrier_signal::agrees(signal));
  });
}

}  // namespace longshore::one_sided
