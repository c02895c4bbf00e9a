// The channels of a rank over MPI: rings in memory to ranks of its node, messages to the others.
#pragma once

#include <longshore/transport/detail/ring_channels.hpp>
#include <longshore/transport/mpi/message_channels.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <deque>
#include <memory>

namespace longshore::mpi {

/// The ends themselves, near and far ones apart, each in the order in which they were named.
class channel_ends final : public shared_resource {
 public:
  /// Collective over the team.
  channel_ends(team& team, std::span<const channel_end> near_to,
               std::span<const channel_end> near_from, std::span<const channel_end> far_to,
               std::span<const channel_end> far_from, int slots);
  ~channel_ends() override;
  void close(team& team) override;

  std::unique_ptr<detail::ring_channels> rings;
  awaited_messages awaited;
  std::deque<message_sender> message_senders;
  std::deque<message_receiver> message_receivers;

 private:
  void make_messages(team& team, std::span<const channel_end> to, std::span<const channel_end> from,
                     int slots);

  int tag_block_ = 0;
  std::unique_ptr<node_memory> memory_;
  pages buffers_;
  bool closed_ = false;
};

class channels final : public channel_set {
 public:
  /// Collective over the team.
  channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from,
           int slots);
  ~channels() override;

 private:
  team& team_;
  std::unique_ptr<channel_ends> ends_;
  int unwinding_;
};

}  // namespace longshore::mpi
