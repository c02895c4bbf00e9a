// Messages of the simulated machine: the times at which they leave and arrive (LogGOPS), and the
// copies that they make when they arrive. Each network card and each link is a server, with the
// time at which it becomes free.
#pragma once

#include <longshore/transport/simulated/detail/engine.hpp>
#include <longshore/transport/simulated/detail/machine.hpp>
#include <longshore/transport/simulated/detail/topology.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace longshore::simulated {

inline constexpr std::size_t word_bytes = sizeof(std::uint64_t);

/// A put, a get or a fetch-and-add of the running rank.
struct transfer {
  enum class operation : std::uint8_t { put, get, fetch_add };
  operation kind = operation::put;
  int from = 0, to = 0;         ///< ranks
  std::byte* remote = nullptr;  ///< memory of `to`
  std::byte* local = nullptr;   ///< memory of `from`
  std::size_t bytes = 0;
  std::byte* signal_at = nullptr;  ///< in memory of `to`; null without a signal
  std::uint64_t signal = 0;
  std::int64_t amount = 0;     ///< of a fetch-and-add; at its end, the result
  bool gives_message = false;  ///< the given_message at `local` joins the arrivals at `remote`
  bool is_credit = false;      ///< at signal_at is an arrived_credit
  bool keeps_copy = false;     ///< the caller may change the memory at `local` at once
};

class network final : public event_handler {
 public:
  network(const machine& described, engine& events, int ranks);

  /// Starts a transfer of the running rank, which spends its overhead.
  void start(const transfer& wanted);
  /// Starts a get or a fetch-and-add, and waits for its end. Returns the result of the latter.
  std::int64_t complete(const transfer& wanted);
  /// Waits until all transfers of the running rank are complete at both ends.
  void quiet(int rank);
  /// Work of the processor. Ranks that share cores take turns: each keeps its core until it waits.
  void compute(int rank, double seconds);
  /// Gives the core to other ranks until an event that may end the wait. If ranks share cores, the
  /// rank then pays for a switch.
  void wait(int rank, const char* operation, int peer);
  /// Charges copies within a node. The memory of the node is a server, too. The rate depends on the
  /// bytes that the copies touch again and again.
  void charge_copy(int rank, int peer, std::size_t bytes, std::size_t touched_bytes);
  /// Copied cells: their bytes, and the cache lines of their short runs.
  void charge_copy(int rank, int peer, const detail::copied_cells& cells);
  /// The overhead of the receiver of a message between nodes.
  void charge_receive(int rank, std::size_t bytes);
  /// The running rank changes memory that `peer`, a rank of its node, polls (cost_sink::change).
  void change(int rank, const void* at, int peer, std::function<bool()> make);
  /// Called when memory is freed. Changes of this memory that are not visible yet never happen.
  void forget_changes(const std::byte* begin, std::size_t bytes) noexcept;
  void handle(int kind, std::uint32_t id) override;
  void fetch(int kind, std::uint32_t id, bool is_next) noexcept override;

 private:
  enum event : int { crosses, arrives, delivered, updates, returns, completed, visible };
  struct alignas(cache_line_bytes) message {
    transfer what;
    std::uint32_t crossed = 0;  // number of crossed links
    event at_card = arrives;    // what happens at the end of the last link
    route links;                // of its current way
    bool* is_complete = nullptr;
    std::int64_t* result = nullptr;
    std::vector<std::byte> copy;
  };
  static constexpr std::size_t messages_per_block = 1024;
  // A change that is on its way to another rank of the node.
  struct memory_change {
    const void* at;
    int peer;
    std::function<bool()> make;
  };
  struct node {
    double out_free = 0, in_free = 0, atomics_free = 0, memory_free = 0;
    std::vector<double> cores_free;  // empty if each rank has a core
  };
  struct pending {
    std::uint64_t transfers = 0;
    double complete_at = 0;
    bool in_quiet = false;  // the rank waits for the end of its transfers
  };
  [[nodiscard]] node& node_of(int rank) { return nodes_[machine_.node_of(rank)]; }
  // On one node, atomics are those of the processor, else those of the network
  // (one_sided/segment.cpp).
  [[nodiscard]] bool has_one_node() const noexcept {
    return pending_.size() <= static_cast<std::size_t>(machine_.ranks_per_node);
  }
  /// Ranks that share a core share its caches.
  [[nodiscard]] std::size_t in_caches(std::size_t touched_bytes) const noexcept {
    return touched_bytes * ranks_per_core_;
  }
  [[nodiscard]] bool is_near(const transfer& it) const noexcept {
    return machine_.node_of(it.from) == machine_.node_of(it.to);
  }
  [[nodiscard]] message& message_of(std::uint32_t id) noexcept {
    return message_blocks_[id / messages_per_block][id % messages_per_block];
  }
  [[nodiscard]] std::uint32_t free_message();
  std::uint32_t start_message(const transfer& wanted);
  // Sends bytes from rank to rank at `time`; event `kind` of message `id` happens at arrival. The
  // message crosses each link of its route when its first byte arrives there.
  void send(double time, int from, int to, std::size_t bytes, event kind, std::uint32_t id);
  void cross(message& moved, std::uint32_t id);
  // Event `kind` happens when the card of `rank` has taken the bytes.
  void receive(int rank, std::size_t bytes, event kind, std::uint32_t id);
  // A fetch-and-add takes its turn at the atomics of its node.
  void update_at(double time, std::uint32_t id);
  void deliver(message& arrived, std::uint32_t id);
  void release(std::uint32_t id, double complete_at);

  const machine& machine_;
  engine& engine_;
  topology links_;
  std::vector<node> nodes_;
  std::size_t ranks_per_core_ = 1;
  bool memory_is_limited_;        // the ranks of a node together can copy faster than its memory
  std::vector<pending> pending_;  // indexed by rank
  std::vector<std::unique_ptr<message[]>> message_blocks_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<memory_change> changes_;
  std::vector<std::uint32_t> free_changes_;
};

}  // namespace longshore::simulated
