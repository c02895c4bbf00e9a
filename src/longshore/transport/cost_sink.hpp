// The costs of a run whose time is computed, not measured. Only the transport `simulated` has a
// sink; on other transports team::costs() is null, and each call costs one comparison per batch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

namespace longshore::detail {

/// What a copy moves.
struct copied_cells {
  std::size_t bytes = 0;
  double lines = 0;               ///< cache lines that short runs touch; a longer run counts as one
  std::size_t touched_bytes = 0;  ///< what the copies touch again and again; caches may keep it
};

/// Computes the clock of one rank. All times are in seconds of this clock.
class cost_sink {
 public:
  virtual ~cost_sink() = default;
  cost_sink() = default;
  cost_sink(const cost_sink&) = delete;
  cost_sink& operator=(const cost_sink&) = delete;

  // Work. Each call advances the clock.

  /// `amount` units of a kind of work. The layer that does the work names the kind.
  virtual void charge(std::string_view work, std::size_t amount) = 0;
  /// A copy within the memory of this rank, or from or to the memory of `peer` on the same node.
  virtual void charge_copy(int peer, const copied_cells& copied) = 0;
  virtual void charge_seconds(double seconds) = 0;
  /// Throws errc::out_of_memory unless each rank can have `bytes` bytes more. Ranks that ask for
  /// the same number between two collective calls get the same answer.
  virtual void require_memory(std::size_t bytes) = 0;

  // Events: what ranks see of each other's stores, and how they wait.

  /// This rank changes the memory at `at`, which `peer`, a rank of the same node, polls. After the
  /// latency of memory, `make` makes the change, and returns whether the peer may wait for it. If
  /// the memory is freed earlier, the change does not happen.
  virtual void change(const void* at, int peer, std::function<bool()> make) = 0;
  /// Stores `value` to a word that `peer` polls, by change().
  template <class T>
  void store(std::atomic<T>& word, T value, int peer) {
    change(&word, peer, [&word, value] {
      word.store(value, std::memory_order_relaxed);
      return true;
    });
  }
  /// Call this before a load that polls. Lets everything happen that other ranks do before the time
  /// of this rank's clock. The clock also advances in a loop that only polls.
  virtual void poll() = 0;
  /// Gives the core to other ranks until an event may have ended the wait.
  virtual void block(const char* operation, int peer) = 0;
  /// Called when a wait that called block() has ended.
  virtual void wait_ended() noexcept = 0;

  [[nodiscard]] virtual double now() = 0;
  /// Events of all ranks since the start of the run.
  [[nodiscard]] virtual std::uint64_t events() const noexcept = 0;
};

}  // namespace longshore::detail
