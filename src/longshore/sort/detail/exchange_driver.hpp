// What a bucket sort does that needs no types: who gets how many items, which exchange brings them,
// and how long each phase took.
#pragma once

#include <longshore/machine/tasks.hpp>
#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/room.hpp>
#include <longshore/sort/options.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace longshore::detail {

class exchange_driver {
 public:
  /// Collective. Throws errc::unsupported, on all ranks, for what why_not refuses, and for a stable
  /// sort by an exchange that is not deterministic.
  exchange_driver(team& team, const bucket_options& options, std::size_t item_bytes);

  /// A new operation begins; the phases are timed from here on.
  void begin();
  void end_phase(double bucket_phases::*phase);
  /// What was found to be wrong with a key of this rank, before agree().
  void refuse_key(std::string why) { refused_ = std::move(why); }
  /// Collective. From counts.outgoing to all else: how many items come, the exchange made ready for
  /// them. Throws errc::usage where a key was refused, errc::peer_failed on the other ranks.
  void agree(std::size_t items);
  void move(const std::byte* outgoing, const arrival& arrived) {
    exchange_->run(outgoing, arrived);
  }
  void end(std::size_t items);

  [[nodiscard]] block_counts& counts() noexcept { return counts_; }
  /// in items
  [[nodiscard]] const std::vector<std::size_t>& outgoing_starts() const noexcept { return starts_; }
  [[nodiscard]] block_exchange& way() const noexcept { return *exchange_; }
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] tasks& workers() noexcept {
    return options_.workers != nullptr ? *options_.workers : alone_;
  }
  [[nodiscard]] const bucket_options& options() const noexcept { return options_; }
  [[nodiscard]] const bucket_phases& phases() const noexcept { return phases_; }
  /// Seconds of the phases in which this rank waited for others (team::waited_seconds).
  [[nodiscard]] const bucket_phases& waits() const noexcept { return waits_; }
  [[nodiscard]] const traffic& moved() const noexcept { return moved_; }
  /// Of what moved, that of the phase exchange; the rest belongs to the offsets.
  [[nodiscard]] const traffic& moved_in_exchange() const noexcept { return moved_in_exchange_; }
  [[nodiscard]] exchange_strategy strategy() const noexcept { return strategy_; }

 private:
  void choose(std::size_t items);

  team& team_;
  bucket_options options_;
  std::size_t item_bytes_;
  tasks alone_;
  exchange_strategy strategy_;
  std::unique_ptr<block_exchange> exchange_;
  block_counts counts_;
  std::vector<std::size_t> starts_;
  std::string refused_;
  double began_ = 0, waited_before_ = 0;
  bucket_phases phases_, waits_;
  traffic before_, before_exchange_, moved_, moved_in_exchange_;
};

}  // namespace longshore::detail
