// Termination detection without a barrier. It finds out when no rank has anything to send and no
// message is in flight. In each wave, counts of messages go up a tree of ranks and a verdict comes
// down. The verdict is "quiet" when two waves in a row find the same counts, and as many messages
// received as sent. Used by conveyors with items_create_items.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstdint>
#include <memory>

namespace longshore::detail {

/// The four-counter method of Mattern (Algorithms for distributed termination detection,
/// Distributed Computing 2, 1987), over a binary tree. Cost of a wave: 2 (P - 1) messages of some
/// 20 bytes, in 2 log2 P steps that follow each other. A rank that is not passive holds the wave
/// back, so a busy program sends no such messages. Memory per rank: 3 channels each way, of 2 small
/// slots.
class termination_detector {
 public:
  /// Collective.
  explicit termination_detector(team& team);

  /// To be called repeatedly. Returns true once all ranks are passive and no message is in flight.
  /// `passive`: this rank has nothing left to send and will send again only because of a message
  /// that it receives. `sent` and `received` count the messages of this rank since the engine was
  /// made. Local; never blocks.
  bool poll(bool passive, std::int64_t sent, std::int64_t received);
  /// Prepares the next epoch. REQUIRES: poll() returned true.
  void restart();

 private:
  struct counts {
    std::int64_t sent = 0, received = 0;
    friend bool operator==(const counts&, const counts&) = default;
  };
  enum class verdict : unsigned char { none, again, quiet };

  void receive_from_children();
  void send_to_parent();
  void receive_verdict();
  bool send_verdict();

  std::unique_ptr<channel_set> channels_;
  bool is_root_;
  std::size_t first_child_;  // index of the first channel to a child; before it: that to the parent
  // of the current wave: children whose counts arrived, and children that have the verdict
  std::size_t counts_received_ = 0, verdicts_sent_ = 0;
  counts sum_;                    // counts of this subtree, in the current wave
  counts previous_wave_{-1, -1};  // sum_ of the wave before, at the root
  bool reported_ = false;  // whether the parent has sum_; at the root: whether verdict_ is set
  verdict verdict_ = verdict::none;
};

}  // namespace longshore::detail
