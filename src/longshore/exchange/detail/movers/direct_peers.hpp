// The direct peers of a rank: ranks of its node whose memory it reads, or which read its memory.
#pragma once

#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/exchange/detail/exchange_program.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/exchange/detail/plan_memory.hpp>
#include <longshore/transport/detail/handshake_message.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace longshore::detail {

struct described_memory;
enum class exposure : std::uint32_t;

/// Which parts of messages are read from the memory of their sender, if it can be mapped, and unless
/// packing was measured to be much faster between these ranks (pair_caches).
enum class read_policy {
  /// Parts that fill at least half of the cache lines in which they lie, and parts in fewer than 64
  /// lines. Other parts, such as a face across x, are packed: moving all their lines takes longer.
  dense,
  /// Contiguous parts of at least 16 KiB. The saved copy gains more than the sender loses by waiting
  /// for the receiver.
  large_contiguous,
  /// All parts, or none. Plans of fields in device memory read all instead of `dense`, and none
  /// instead of `large_contiguous`.
  all,
  none
};

struct direct_peer {
  int rank = -1;
  rank_memories memories;             ///< of the peer, mapped into this process
  std::uint64_t binding = 0;          ///< the number of the binding to which `memories` belong
  bool are_signals_unmapped = false;  ///< whether the signals of a known peer could not be mapped
  bool is_unmapped = false;           ///< whether a memory that this rank can read is not mapped
  /// Whether the ranks can signal each other. If not, neither reads memory of the other.
  bool has_signals = false;
  /// Element m of `readable`: this rank can read memory m of the peer. Element m of `read_by_peer`:
  /// the peer can read memory m of this rank.
  std::vector<bool> readable, read_by_peer;
  std::vector<exposure> exposed;                      ///< of the memories of the peer
  direct_signals* signals_from_peer = nullptr;        ///< one per round, in the memory of this rank
  direct_signals* signals_to_peer = nullptr;          ///< one per round, in the memory of the peer
  const std::byte* board = nullptr;                   ///< of the peer, which describes its memories
  std::vector<std::shared_ptr<const void>> mappings;  ///< first those of signals and board
  std::size_t kept_mappings = 0;                      ///< how many those are
  /// In another process: its events, two per round, if this rank and the peer may wait for them.
  std::vector<device_event> events;
};

/// The messages of a round that this rank and a peer do not pack. The receiver reads them in the
/// memory of the sender.
struct peer_link {
  int peer;
  direct_signals *from_peer, *to_peer;
  direct_peer* source;
  std::uint64_t binding = 0;  ///< of the peer, for which this rank has prepared its copies
};

/// The direct peers of a plan. Cost per peer: a message of 136 bytes plus 64 bytes per field of a readable
/// memory, and 128 bytes of signals per round. Ranks that share a plan for the first time also send
/// a message of 50 bytes and a byte per memory, and measure their caches (pair_caches) in 192 KiB of
/// memory, which later plans use for their buffers. If processes share device memory, each plan sends
/// this message; each field takes 128 bytes more, and each round 256.
class direct_peers {
 public:
  /// Local. `elements` has the number of elements of each memory. `neighbours` reaches all ranks of
  /// the node with which this rank exchanges messages.
  direct_peers(team& ranks, read_policy policy, std::shared_ptr<messenger> neighbours,
               const rank_memories& memories, std::span<const std::size_t> elements,
               std::size_t rounds);
  ~direct_peers() = default;
  direct_peers(const direct_peers&) = delete;
  direct_peers& operator=(const direct_peers&) = delete;

  /// Whether this rank knows, for each of its peers, if the peer and this rank can map each other's
  /// memory, and if their caches are far. If so, this rank knows before exchange() which messages its
  /// peers will read. If processes share device memory, a rank learns that in confirm().
  [[nodiscard]] bool knows_peers() const noexcept { return knows_peers_; }
  /// Collective. Ranks describe their memories to their peers, and agree on numbers. `attachments`
  /// are none, or one more message for each peer on the node. Returns the attachments of the peers.
  std::vector<std::vector<std::byte>> exchange(
      const agreed_numbers& numbers, const when_agreed& agreed,
      const std::vector<std::vector<std::byte>>& attachments = {});
  /// Collective. Call after exchange(), if knows_peers() is false on any rank. Ranks tell their
  /// peers which memories they have mapped, and measure how far their caches are.
  void confirm();

  /// Local. The memories of this rank are bound to other addresses. Peers read their descriptions in
  /// the next exchange. Throws errc::usage if peers read a memory, and cannot map it at its new
  /// address. REQUIRES: no exchange is in flight on this rank.
  void rebind(const rank_memories& memories, std::span<const std::size_t> elements);
  /// Tells the peer to which binding the messages of this rank belong. Call before this rank
  /// signals that its messages may be read.
  void tell_binding(direct_signals& to_peer) const noexcept {
    to_peer.binding.store(binding_, std::memory_order_relaxed);
  }
  /// Call when `peer` has signalled that its messages may be read. Updates its memories, and
  /// `known`, the number of the binding for which the caller has prepared copies. Returns whether
  /// `known` has changed. Throws errc::out_of_memory if the memories cannot be mapped.
  [[nodiscard]] bool follow(direct_peer& peer, std::size_t round, std::uint64_t& known);
  /// Whether follow() will release memory that this rank has mapped.
  [[nodiscard]] static bool is_rebound(const direct_peer& peer, std::size_t round) noexcept {
    return peer.signals_from_peer[round].binding.load(std::memory_order_acquire) != peer.binding;
  }

  /// The events of a round after which cells of this rank are ready, or those of peers are taken; null
  /// if this rank and its peers cannot share events. It then reads and lends no device memory.
  [[nodiscard]] const device_event* ready_event(std::size_t round) const noexcept {
    return events_.empty() ? nullptr : events_[2 * round].get();
  }
  [[nodiscard]] const device_event* taken_event(std::size_t round) const noexcept {
    return events_.empty() ? nullptr : events_[2 * round + 1].get();
  }
  /// The same events of a peer, after its signal.
  [[nodiscard]] const device_event& ready_event_of(const direct_peer& peer,
                                                   std::size_t round) const {
    return event_of(peer, 2 * round, peer.signals_from_peer[round].ready_event);
  }
  [[nodiscard]] const device_event& taken_event_of(const direct_peer& peer,
                                                   std::size_t round) const {
    return event_of(peer, 2 * round + 1, peer.signals_from_peer[round].taken_event);
  }

  /// The fields lie in device memory. Call on all ranks, before movers are made.
  void set_policy_of_devices() noexcept {
    policy_ = policy_ == read_policy::dense ? read_policy::all : read_policy::none;
  }
  /// Call after set_policy_of_devices(), if this rank makes the plan for a device.
  void use_device(device_driver& driver, int device);
  /// Releases device memory and events of the peers. If `waits`, returns when the peers have released
  /// those of this rank. REQUIRES: work on the device that uses them is done.
  void close(bool waits) noexcept;
  [[nodiscard]] bool reads() const noexcept { return policy_ != read_policy::none; }
  [[nodiscard]] std::span<const direct_peer> peers() const noexcept { return peers_; }

  /// Throws errc::out_of_memory if this rank could not map the signals of a peer. Call when an
  /// exchange begins. A check before that would also fail for a peer that has destroyed its plan
  /// and exchanges nothing more.
  void check_mapped() const;

  /// Whether this rank reads a part of a message from the memory of `peer`.
  [[nodiscard]] bool is_read(const direct_peer& peer, const incoming_part& part) const;
  /// Whether `peer` reads a part of a message from the memory of this rank.
  [[nodiscard]] bool is_read(const direct_peer& peer, const outgoing_part& part) const;
  /// Whether all parts of a message are read.
  template <class Message>
  [[nodiscard]] bool is_read(const direct_peer& peer, const Message& message) const {
    return std::all_of(message.parts.begin(), message.parts.end(),
                       [&](const auto& part) { return is_read(peer, part); });
  }
  /// Returns null if `rank` is on another node, or shares no memory with this rank.
  [[nodiscard]] direct_peer* find(int rank);
  /// Returns the peer of a message that is read, or null if the message is packed.
  template <class Message>
  [[nodiscard]] direct_peer* find_direct(const Message& message) {
    auto* const peer = find(message.peer);
    return peer != nullptr && is_read(*peer, message) ? peer : nullptr;
  }
  [[nodiscard]] static peer_link link_to(direct_peer& peer, std::size_t round) noexcept {
    return {peer.rank, peer.signals_from_peer + round, peer.signals_to_peer + round, &peer};
  }
  /// Call if an exchange may still be in flight. The signals are not used again, because peers may
  /// still write to them.
  void abandon_signals() noexcept {
    (void)signals_.release();
    (void)board_.release();
  }

 private:
  [[nodiscard]] std::byte* line(std::size_t number) const noexcept {
    return reinterpret_cast<std::byte*>(board_.get() + number);
  }
  void find_device(std::span<const std::size_t> elements);
  void share_events();
  void open_events(direct_peer& peer);
  void share_no_device(direct_peer& peer) const;
  [[nodiscard]] const device_event& event_of(const direct_peer& peer, std::size_t number,
                                             const std::atomic<const void*>& told) const;
  [[nodiscard]] bool describe_on_device(described_memory& described, const bound_field& memory,
                                        std::size_t number) const;
  [[nodiscard]] std::vector<exposure> describe_memories(const rank_memories& memories,
                                                        std::span<const std::size_t> elements,
                                                        std::vector<std::byte>& described) const;
  [[nodiscard]] std::byte* mapped(direct_peer& peer, const described_memory& described,
                                  exposure where);
  void map_memories(direct_peer& peer, handshake_reader& reader);
  void write_board(std::span<const std::byte> descriptions);
  [[noreturn]] void throw_for_unmapped(int rank) const;
  [[nodiscard]] bool pays(const direct_peer& peer, const element_set& elements,
                          const bound_fields& at_sender, int memory) const;

  team& ranks_;
  read_policy policy_;
  const rank_memories& memories_;
  node_access& access_;
  std::shared_ptr<messenger> messenger_;
  std::vector<std::size_t> local_;  // numbers of the peers in the messenger
  bool knows_peers_ = true;
  std::vector<exposure> exposed_;  // of the memories of this rank
  std::vector<std::vector<std::byte>> descriptions_;
  std::size_t rounds_;
  signal_pool::lines signals_;
  // The descriptions of this rank's memories. If it shares device memory with other processes, lines
  // with handles of its events come before, and lines with handles of its fields behind.
  signal_pool::lines board_;
  std::size_t event_lines_ = 0, field_lines_begin_ = 0;
  std::optional<int> device_;  // of the fields of this rank
  std::vector<held_event> events_;
  std::uint64_t binding_ = 0;
  std::vector<direct_peer> peers_;  // sorted by rank
};

}  // namespace longshore::detail
