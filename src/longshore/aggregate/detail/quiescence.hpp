// Knowing that nothing moves any more, without a barrier: counts of messages go up a tree of ranks
// and the verdict comes down again, until two waves in a row find everything sent to be received
// and nothing new.
#pragma once

#include <longshore/transport/team.hpp>

#include <cstdint>
#include <memory>

namespace longshore::detail {

/// The four counters of Mattern (Algorithms for distributed termination detection, Distributed
/// Computing 2, 1987), over a tree. Cost of a wave: 2 (P - 1) messages of some 20 bytes in all, 2
/// log2 P of them one after the other; a rank that is not passive holds its wave up, so that a busy
/// program sends none. Memory per rank: 3 channels each way of 2 small slots.
class quiescence {
 public:
  /// Collective.
  explicit quiescence(team& team);

  /// Local, never blocks; to be called again and again. `passive`: this rank has nothing in hand
  /// and will send again only because of what it receives. `sent` and `received` count messages
  /// since the beginning. True once all ranks are passive and nothing is under way.
  bool poll(bool passive, std::int64_t sent, std::int64_t received);
  /// For the next use, after poll() was true.
  void restart();
  [[nodiscard]] std::uint64_t waves() const noexcept { return waves_; }

 private:
  struct counts {
    std::int64_t sent = 0, received = 0;
    friend bool operator==(const counts&, const counts&) = default;
  };
  enum class verdict : unsigned char { none, again, quiet };

  void hear_children();
  void report_up();
  void hear_parent();
  bool tell_children();

  std::unique_ptr<channel_set> channels_;
  bool is_root_;
  std::size_t first_child_;  // channels before it lead to the parent
  std::size_t heard_ = 0, told_ = 0;
  counts sum_, before_{-1, -1};
  bool reported_ = false;
  verdict verdict_ = verdict::none;
  std::uint64_t waves_ = 0;
};

}  // namespace longshore::detail
