// The channels of a rank over MPI: rings in memory to ranks of its node, messages to the others.
#pragma once

#include <longshore/transport/mpi/message_channels.hpp>
#include <longshore/transport/mpi/team.hpp>
#include <longshore/transport/ring_channels.hpp>

#include <deque>
#include <memory>

namespace longshore::mpi {

class channels final : public channel_set {
 public:
  /// Collective over the team.
  channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from, int slots);
  ~channels() override;

 private:
  void make_rings(std::span<const channel_end> to, std::span<const channel_end> from, int slots);
  void make_messages(std::span<const channel_end> to, std::span<const channel_end> from, int slots);
  void close();

  team& team_;
  int tag_block_;
  std::unique_ptr<node_memory> memory_;
  std::unique_ptr<ring_channels> rings_;
  pages buffers_;
  std::deque<message_sender> message_senders_;
  std::deque<message_receiver> message_receivers_;
  int unwinding_;
};

}  // namespace longshore::mpi
