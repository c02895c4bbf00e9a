// The channels of a rank over a one-sided library: rings in shared memory within its node, puts
// with signals between nodes, or ends that the library makes.
#pragma once

#include <longshore/transport/detail/ring_channels.hpp>
#include <longshore/transport/one_sided/detail/signal_channels.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>

#include <memory>
#include <vector>

namespace longshore::one_sided {

class channels final : public channel_set {
 public:
  /// Collective over the team. Each end has its number of slots.
  channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from);
  ~channels() override;
  quiet_receivers* quiet() const noexcept override { return quiet_.get(); }

 private:
  void open_remote(std::span<const channel_end> to, std::span<const channel_end> from,
                   std::size_t offset);

  team& team_;
  detail::team_watch lifetime_of_team_{team_};
  std::unique_ptr<region> memory_;
  std::unique_ptr<detail::ring_channels> rings_;
  std::vector<std::unique_ptr<channel_sender>> remote_senders_;
  std::vector<std::unique_ptr<channel_receiver>> remote_receivers_;
  std::unique_ptr<quiet_receivers> quiet_;
  int unwinding_;
};

}  // namespace longshore::one_sided
