// Movers transfer the messages of one round. Here are their interface and the code they share.
#pragma once

#include <longshore/device/driver.hpp>
#include <longshore/exchange/detail/copy/copy_batch.hpp>
#include <longshore/exchange/detail/elements/element_pairs.hpp>
#include <longshore/exchange/detail/exchange_program.hpp>
#include <longshore/exchange/detail/movers/carrier.hpp>
#include <longshore/exchange/detail/plan_memory.hpp>
#include <longshore/exchange/phase_clock.hpp>
#include <longshore/exchange/transfers.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace longshore::detail {

/// How a round combines the elements of a field. A round that copies has no combiners.
struct combiner {
  batch_function loop;
  const void* op;
  device_operation on_device = {};  ///< for fields in device memory, instead
};

/// What a mover needs of its plan. All members outlive the mover.
struct mover_context {
  team& ranks;
  const rank_memories& memories;
  /// The tasks that copy large messages of boxes; null if the calling thread copies them.
  tasks* workers = nullptr;
  /// The bytes of the cache lines that a run of the plan touches, for computed times; 0 if unknown.
  std::size_t touched_bytes = 0;
  /// Whether contiguous messages by MPI are sent and received without packing. The plan is then not
  /// bound to other memory.
  bool posts_in_place = false;
  /// Whether messages of channels stay in their slots until the next exchange.
  bool keeps_slots = false;
  /// Whether the distance of the peers' caches is known (node_access). Large messages to far peers are
  /// then packed by stores that bypass the caches.
  bool knows_caches = false;
  const char* awaited = "a message";  ///< in messages about a wait that takes too long
  phase_clock* clock = nullptr;       ///< null if the exchange is not timed

  [[nodiscard]] const bound_fields& memory(int number) const noexcept {
    return memories[static_cast<std::size_t>(number)];
  }
  /// The time from now on belongs to `phase`, if the exchange is timed. Costs less than a timed_phase,
  /// which remembers the phase before.
  void enter(exchange_phase phase) const noexcept {
    if (clock != nullptr) [[unlikely]]
      clock->enter(phase);
  }
  void charge_copy(int peer, std::size_t bytes, double lines) const {
    ranks.charge_copy(peer, {bytes, lines, touched_bytes > 0 ? touched_bytes : 2 * bytes});
  }
};

/// Packs the parts of a message one after another.
class message_packer {
 public:
  message_packer() = default;
  message_packer(const mover_context& context, const outgoing_message& message);
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;
  [[nodiscard]] std::size_t payload_bytes() const noexcept { return payload_bytes_; }
  /// In phase `send`.
  void pack(const mover_context& context, std::byte* message) const {
    context.enter(exchange_phase::pack);
    pack(context, parts_, message);
    context.charge_copy(context.ranks.rank(), payload_bytes_, lines_);
    context.enter(exchange_phase::send);
  }
  /// Packs part `number` alone to its place in the message.
  void pack_part(const mover_context& context, std::size_t number, std::byte* message) const {
    context.enter(exchange_phase::pack);
    pack(context, std::span(parts_).subspan(number, 1), message);
    context.enter(exchange_phase::send);
  }

 private:
  struct part {
    int memory;
    element_pairs pairs;
    packed_layout layout;
  };
  void pack(const mover_context& context, std::span<const part> parts, std::byte* message) const;

  std::vector<part> parts_;
  std::size_t bytes_ = 0, payload_bytes_ = 0;
  double lines_ = 0;
  copy_stores stores_ = copy_stores::ordinary;
};

/// Returns the bytes of the elements of a message.
template <class Message>
[[nodiscard]] std::size_t payload_bytes(const mover_context& context, const Message& message) {
  std::size_t bytes = 0;
  for (const auto& part : message.parts)
    bytes += part.elements.size() * element_bytes_of(context.memory(part.memory));
  return bytes;
}

/// Returns the memory of a message if its elements are one box of one field without gaps, else null.
template <class Message>
[[nodiscard]] std::byte* contiguous_memory(const mover_context& context, const Message& message) {
  if (message.parts.size() != 1) return nullptr;
  const auto& memory = context.memory(message.parts[0].memory);
  const auto* const box = message.parts[0].elements.box();
  if (box == nullptr || memory.size() != 1) return nullptr;
  const auto& field = memory[0];
  const auto bytes = static_cast<std::ptrdiff_t>(field.element_bytes);
  if (bytes % field.stride_bytes != 0 || !box->is_contiguous(bytes / field.stride_bytes))
    return nullptr;
  return field.data + box->first * field.stride_bytes;
}

/// Returns the link to `peer`, or null if there is none.
template <class Links>
[[nodiscard]] auto* find_peer(Links& links, int peer) {
  const auto found =
      std::find_if(links.begin(), links.end(), [&](const auto& link) { return link.peer == peer; });
  return found == links.end() ? nullptr : &*found;
}

/// An exchange begins: all links, by number, are pending.
inline void set_all_pending(std::vector<std::size_t>& pending, std::size_t links) {
  pending.resize(links);
  std::iota(pending.begin(), pending.end(), std::size_t{0});
}

/// Stores the incoming messages of a round. Parts are copied on arrival, or combined in the order
/// of their contributors. A message is packed, or is read from the memories of its sender.
class message_store {
 public:
  explicit message_store(const mover_context& context) : context_(context) {}
  /// Adds a message, and returns its number. `sender` are the memories from which the message is
  /// read; they outlive the store. If `sender` is null, the message arrives packed, or where it
  /// belongs.
  std::size_t add(const incoming_message& message, const rank_memories* sender);
  /// Adds the parts of another message to message `number`, which is read from the same sender.
  void append(std::size_t number, const incoming_message& message) {
    add_parts(message, messages_[number]);
  }
  /// Call once, after the last add().
  void sort();
  [[nodiscard]] std::size_t message_bytes(std::size_t i) const noexcept {
    return messages_[i].bytes;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

  /// Begins an exchange. Without combiners, parts are copied.
  void start(std::span<const combiner> combiners);
  /// Message i has arrived at `packed`, or can be read from its sender. Stores all parts that may
  /// be stored now. Calls finished(k) for each message k that is then stored completely. If
  /// `is_in_place`, nothing is copied. Then the phase is `wait`.
  template <class F>
  void arrive(std::size_t i, const std::byte* packed, const F& finished, bool is_in_place = false);
  /// Whether the exchange that has started copies boxes only, so that copies can be prepared.
  [[nodiscard]] bool copies_boxes() const noexcept { return are_boxes_ && combiners_.empty(); }
  /// Adds the copies that store message i to a batch. `packed` is where the message arrives. The
  /// copies are valid until rebind(). REQUIRES: copies_boxes().
  void add_copies(std::size_t i, const std::byte* packed, copy_batch& batch) const {
    add_copies(messages_[i], packed, batch);
  }
  /// The packed message i of the last exchange.
  [[nodiscard]] const std::byte* packed(std::size_t i) const noexcept {
    return messages_[i].packed;
  }
  [[nodiscard]] std::size_t unfinished() const noexcept { return unfinished_; }
  /// Call after the memories were bound to other addresses.
  void rebind() noexcept {
    for (auto& message : messages_) message.batch.reset();
  }

 private:
  struct part {
    int memory, sender_memory, contributor;
    std::size_t number;
    element_pairs pairs;
    packed_layout layout;
    std::size_t payload_bytes;
  };
  struct stored_message {
    int peer;
    const rank_memories* sender;
    std::vector<part> parts;
    std::size_t bytes = 0, payload_bytes = 0;
    double lines = 0;
    const std::byte* packed = nullptr;
    std::size_t missing_parts = 0;
    bool has_arrived = false;
    // The copies of all parts, if they are boxes that are read from the sender.
    bool is_batch = false;
    std::optional<copy_batch> batch = {};
  };
  struct place {
    std::size_t message, part;
  };
  // Calls f(k, to, from) for each field number k of the memory of a part.
  template <class F>
  void for_each_field(const stored_message& message, const std::byte* packed, const part& stored,
                      const F& f) const;
  void combine_part(const stored_message& message, const part& stored) const;
  void add_parts(const incoming_message& message, stored_message& stored);
  void add_copies(const stored_message& message, const std::byte* packed, copy_batch& batch) const;
  void store_all(stored_message& message) const;
  void store_batch(stored_message& message) const;

  const mover_context& context_;
  std::vector<stored_message> messages_;
  bool are_boxes_ = false;    // whether all parts of all messages are boxes
  std::vector<place> order_;  // of parts, by contributors and numbers
  std::span<const combiner> combiners_;
  std::size_t next_ = 0, unfinished_ = 0;
};

template <class F>
void message_store::arrive(std::size_t i, const std::byte* packed, const F& finished,
                           bool is_in_place) {
  context_.enter(exchange_phase::unpack);
  auto& message = messages_[i];
  message.packed = packed;
  message.has_arrived = true;
  if (combiners_.empty()) {
    if (!is_in_place) store_all(message);
    --unfinished_;
    finished(i);
    return context_.enter(exchange_phase::wait);
  }
  for (; next_ < order_.size() && messages_[order_[next_].message].has_arrived; ++next_) {
    auto& ready = messages_[order_[next_].message];
    combine_part(ready, ready.parts[order_[next_].part]);
    if (--ready.missing_parts > 0) continue;
    --unfinished_;
    finished(order_[next_].message);
  }
  context_.enter(exchange_phase::wait);
}

/// Transfers the messages of one round, any number of times. An exchange lasts from start() until
/// is_done(). Only then may the next exchange start.
class mover {
 public:
  virtual ~mover() = default;
  mover() = default;
  mover(const mover&) = delete;
  mover& operator=(const mover&) = delete;

  /// Begins an exchange. The combiners outlive it.
  virtual void start(std::span<const combiner> combiners) = 0;
  /// Continues the exchange as far as possible without blocking.
  virtual void progress() = 0;
  /// Returns when the exchange is done, by calls that block. REQUIRES: a carrier of MPI calls.
  virtual void complete() {}
  /// The state after the last start() or progress(). has_arrived(): all incoming messages are
  /// stored. is_done(): in addition, all outgoing messages were sent or read.
  [[nodiscard]] bool has_arrived() const noexcept { return has_arrived_; }
  [[nodiscard]] bool is_done() const noexcept { return is_done_; }
  /// Whether all outgoing messages were given to their carrier. The next round may then send, also
  /// by the same channels.
  [[nodiscard]] bool has_sent() const noexcept { return has_sent_; }
  /// A rank for which this rank waits, or -1. REQUIRES: not is_done().
  [[nodiscard]] virtual int awaited_peer() const = 0;
  /// The number of messages that were not stored, sent or read at the last progress().
  [[nodiscard]] virtual std::size_t pending() const = 0;
  /// The traffic of one exchange, without payload.
  [[nodiscard]] virtual traffic moved() const = 0;
  /// The payload of one exchange, split by the way in which it moves.
  [[nodiscard]] virtual exchange_transfers transfers() const = 0;
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  /// Call after the memories were bound to other addresses.
  virtual void rebind() = 0;

 protected:
  bool has_arrived_ = true, has_sent_ = true, is_done_ = true;
};

}  // namespace longshore::detail

namespace longshore::mpi {

/// Takes the tags of a plan, and releases them with the last copy of the result. No other plan has
/// them meanwhile. Messages between two ranks are sent and received in one order, so two tags are
/// enough. Only requests that start together in any order need a tag for each pair. Rounds come one
/// after another, and share the tags. All ranks take the same number of tags. Throws
/// errc::unsupported if too many plans hold tags.
[[nodiscard]] std::shared_ptr<const std::vector<int>> hold_message_tags(
    longshore::team& ranks, detail::carrier by, std::span<const detail::exchange_program> programs);

/// Collective. Makes the mover of a round for a carrier of MPI calls. Contiguous messages are sent
/// from and received into their memory if the context allows it. Other messages travel through a
/// buffer: they are packed before sending, and stored when all messages have arrived. Without pairs,
/// messages of a rank to itself are copied. REQUIRES: a team of the mpi transport. The bytes of a
/// message fit an int; with mpi_neighbor, so do the bytes of all messages of a rank in one
/// direction. Carriers `per pair` have pairs, mpi_subarray has boxes. Memory per rank: the messages
/// in the buffer. Throws errc::unsupported if a test shows that the MPI library delivers wrong
/// messages.
[[nodiscard]] std::unique_ptr<detail::mover> make_mpi_mover(detail::carrier by,
                                                            const detail::mover_context& context,
                                                            const detail::exchange_round& round,
                                                            std::span<const int> tags);

/// Returns what the MPI library of this build would need for a carrier, or nothing if it has all.
[[nodiscard]] std::optional<std::string> missing_in_library(detail::carrier by);

}  // namespace longshore::mpi
