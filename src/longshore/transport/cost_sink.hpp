// The costs of a run whose time is computed, not measured. Only the transport `simulated` has a
// sink; on all other transports team::costs() is null, and each call costs one comparison per batch.
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
  /// Throws errc::out_of_memory unless each rank can have so many bytes more. All ranks that ask for
  /// the same between two collective calls get the same answer.
  virtual void require_memory(std::size_t bytes) = 0;

  // Events: what ranks see of each other's stores, and how they wait.

  /// This rank changes memory at `at`, which `peer`, a rank of the same node, polls. `make` makes
  /// the change, which happens after the latency of memory, and returns whether the peer may wait
  /// for it. The change does not happen if the memory is freed before.
  virtual void change(const void* at, int peer, std::function<bool()> make) = 0;
  /// Stores `value` to a word that `peer` polls, by change().
  template <class T>
  void store(std::atomic<T>& word, T value, int peer) {
    change(&word, peer, [&word, value] {
      word.store(value, std::memory_order_relaxed);
      return true;
    });
  }
  /// Before a load that polls: lets everything happen that other ranks do before this rank's clock.
  /// A loop that only polls does not stop the clock.
  virtual void poll() = 0;
  /// Gives the core to other ranks until an event may have ended the wait.
  virtual void block(const char* operation, int peer) = 0;
  /// A wait has ended that called block().
  virtual void wait_ended() noexcept = 0;

  [[nodiscard]] virtual double now() = 0;
  /// Events of all ranks since the start of the run.
  [[nodiscard]] virtual std::uint64_t events() const noexcept = 0;
};

}  // namespace longshore::detail
