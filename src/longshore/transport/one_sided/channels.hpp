// The channels of a rank over a one-sided library: rings in memory to ranks of its node, puts with
// signals to the others.
#pragma once

#include <longshore/transport/detail/ring_channels.hpp>
#include <longshore/transport/one_sided/signal_channels.hpp>
#include <longshore/transport/one_sided/team.hpp>

#include <memory>
#include <vector>

namespace longshore::one_sided {

class channels final : public channel_set {
 public:
  /// Collective over the team.
  channels(team& team, std::span<const channel_end> to, std::span<const channel_end> from,
           int slots);
  ~channels() override;

 private:
  void open_far(std::span<const channel_end> to, std::span<const channel_end> from, int slots,
                std::size_t first);

  team& team_;
  std::unique_ptr<region> memory_;
  std::unique_ptr<detail::ring_channels> rings_;
  std::vector<std::unique_ptr<channel_sender>> far_senders_;
  std::vector<std::unique_ptr<channel_receiver>> far_receivers_;
  int unwinding_;
};

}  // namespace longshore::one_sided
