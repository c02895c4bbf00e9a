// The channels of a rank over MPI: rings in shared memory within its node, messages to other nodes.
#pragma once

#include <longshore/transport/detail/local_and_remote_ends.hpp>
#include <longshore/transport/detail/ring_channels.hpp>
#include <longshore/transport/mpi/detail/channel_memory.hpp>
#include <longshore/transport/mpi/detail/message_channels.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <deque>
#include <memory>

namespace longshore::mpi {

/// The ends of a channel set, in the order of the lists that the user passed.
class channel_ends final : public collective_resource {
 public:
  /// Collective over the team.
  channel_ends(team& team, const detail::ends_by_locality& to,
               const detail::ends_by_locality& from);
  ~channel_ends() override;
  void close(team& team) override;

  std::unique_ptr<detail::ring_channels> rings;
  pending_receives pending;
  std::deque<message_sender> message_senders;
  std::deque<message_receiver> message_receivers;

 private:
  void open_remote(team& team, std::span<const channel_end> to, std::span<const channel_end> from);

  int tag_block_ = 0;
  channel_memory::piece memory_;
  pages buffers_;
  bool closed_ = false;
};

class channels final : public channel_set {
 public:
  /// Collective over the team. Each end has its number of slots.
  channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from);
  ~channels() override;

 private:
  team& team_;
  detail::team_watch lifetime_of_team_{team_};
  std::unique_ptr<channel_ends> ends_;
  int unwinding_;
};

}  // namespace longshore::mpi
