// Termination detection without a barrier: finds out when no rank has anything to send and no
// message is in flight. Counts of messages go up a tree of ranks, and the verdict comes down. The
// verdict is "quiet" when two waves in a row find as many messages received as sent, and no new
// ones.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstdint>
#include <memory>

namespace longshore::detail {

/// The four-counter method of Mattern (Algorithms for distributed termination detection,
/// Distributed Computing 2, 1987), over a binary tree. Cost of a wave: 2 (P - 1) messages of some
/// 20 bytes, of which 2 log2 P follow each other. A rank that is not passive holds its wave back,
/// so a busy program sends none. Memory per rank: 3 channels each way, of 2 small slots.
class termination_detector {
 public:
  /// Collective.
  explicit termination_detector(team& team);

  /// Local; never blocks; call it repeatedly. `passive`: this rank has nothing left to send and
  /// will send again only because of a message that it receives. `sent` and `received` count the
  /// messages of this rank since the engine was made. True once all ranks are passive and no
  /// message is in flight.
  bool poll(bool passive, std::int64_t sent, std::int64_t received);
  /// Prepares the next use. REQUIRES: poll() returned true.
  void restart();
  [[nodiscard]] std::uint64_t waves() const noexcept { return waves_; }

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
  std::size_t first_child_;  // index of the first channel to a child; the parent's comes before it
  std::size_t children_received_ = 0, children_told_ = 0;
  counts sum_;                    // of this subtree, in this wave
  counts previous_wave_{-1, -1};  // sum of the wave before, at the root
  bool reported_ = false;         // this wave went to the parent; at the root: it was judged
  verdict verdict_ = verdict::none;
  std::uint64_t waves_ = 0;
};

}  // namespace longshore::detail
