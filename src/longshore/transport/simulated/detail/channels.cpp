// Sends and receives messages of channels between simulated ranks.
#include <longshore/core/bytes.hpp>
#include <longshore/transport/simulated/detail/channels.hpp>
#include <longshore/transport/simulated/detail/library.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

namespace longshore::simulated {
namespace {

// The number of an end is the offset of its state, in words.
std::uint32_t number_at(std::size_t offset) {
  return static_cast<std::uint32_t>(offset / word_bytes);
}

// What the four kinds of ends share. State is that of this end, PeerState that of its peer.
template <class End, class State, class PeerState>
class end_with_state : public End {
 public:
  end_with_state(const channel_end& end, library& lib, one_sided::region& memory,
                 std::size_t offset)
      : End(end),
        library_(lib),
        memory_(memory),
        offset_(offset),
        state_(reinterpret_cast<State*>(memory.local() + offset)) {}
  std::uint32_t number() const noexcept override { return number_at(offset_); }
  void connect(std::uint32_t number) override {
    peer_state_ = reinterpret_cast<PeerState*>(part_of(memory_, this->peer()) +
                                               static_cast<std::size_t>(number) * word_bytes);
  }

 protected:
  library& library_;
  one_sided::region& memory_;
  std::size_t offset_;
  State* state_;
  PeerState* peer_state_ = nullptr;
};

// A receiver whose messages a quiet_receivers watches.
class watched_receiver : public one_sided::message_channel_receiver {
 public:
  /// A poll that finds no message sets `*may_have_message` to false. A message that arrives sets it
  /// to true. Null ends the watch.
  virtual void watch(bool* may_have_message) noexcept = 0;

 protected:
  using message_channel_receiver::message_channel_receiver;
};

// The slot that a sender has reserved.
class reserved_slot {
 public:
  reserved_slot(library& lib, std::size_t bytes) : world_(lib.shared()), bytes_(bytes) {}
  reserved_slot(const reserved_slot&) = delete;
  reserved_slot& operator=(const reserved_slot&) = delete;
  ~reserved_slot() {
    if (slot_ != nullptr) world_.return_slot(slot_);
  }
  std::byte* get() {
    if (slot_ == nullptr) slot_ = world_.take_slot(bytes_);
    return slot_;
  }
  // Returns memory with the message: the slot, or a copy in sent_slot_bytes() bytes.
  std::byte* send(std::size_t bytes) {
    std::byte* const slot = std::exchange(slot_, nullptr);
    const std::size_t sent_bytes = sent_slot_bytes(bytes_, bytes);
    if (sent_bytes == bytes_) return slot;
    std::byte* const sent = world_.take_slot(sent_bytes);
    std::memcpy(sent, slot, bytes);
    world_.return_slot(slot);
    return sent;
  }

 private:
  world& world_;
  std::size_t bytes_;
  std::byte* slot_ = nullptr;
};

class near_sender final
    : public end_with_state<one_sided::message_channel_sender, near_channel, near_channel> {
 public:
  near_sender(const channel_end& end, library& lib, one_sided::region& memory, std::size_t offset)
      : end_with_state(end, lib, memory, offset), slots_(end.slots), slot_(lib, end.slot_bytes) {}

  std::byte* reserve() override {
    if (is_full()) {
      library_.poll();
      consumed_seen_ = state_->consumed;
      if (is_full()) {
        state_->credit_is_wanted = 1;
        return nullptr;
      }
    }
    return slot_.get();
  }
  void commit(std::size_t bytes) override {
    assert(bytes <= slot_bytes() && !is_full());
    state_->message(produced_, slots_) = {slot_.send(bytes), bytes};
    const std::uint64_t produced = ++produced_;
    library_.charge("near_messages", 1);
    library_.change(&state_->produced, peer(), [ring = state_, produced] {
      ring->produced = produced;
      if (ring->may_have_message != nullptr) *ring->may_have_message = true;
      return true;
    });
  }

 private:
  [[nodiscard]] bool is_full() const noexcept {
    return produced_ - consumed_seen_ == static_cast<std::uint64_t>(slots_);
  }

  int slots_;
  reserved_slot slot_;
  std::uint64_t produced_ = 0, consumed_seen_ = 0;
};

class near_receiver final : public end_with_state<watched_receiver, near_channel, near_channel> {
 public:
  near_receiver(const channel_end& end, library& lib, one_sided::region& memory, std::size_t offset)
      : end_with_state(end, lib, memory, offset), slots_(end.slots) {}

  std::optional<std::span<const std::byte>> front() override {
    if (consumed_ == produced_seen_) {
      library_.poll();
      produced_seen_ = peer_state_->produced;
      if (consumed_ == produced_seen_) {
        if (peer_state_->may_have_message != nullptr) *peer_state_->may_have_message = false;
        return std::nullopt;
      }
    }
    const auto& message = peer_state_->message(consumed_, slots_);
    return std::span<const std::byte>(message.slot, message.bytes);
  }
  void release() override {
    assert(consumed_ < produced_seen_);
    library_.shared().return_slot(
        std::exchange(peer_state_->message(consumed_, slots_).slot, nullptr));
    const std::uint64_t consumed = ++consumed_;
    library_.change(&peer_state_->consumed, peer(), [ring = peer_state_, consumed] {
      ring->consumed = consumed;
      return std::exchange(ring->credit_is_wanted, 0) != 0;
    });
  }
  void watch(bool* may_have_message) noexcept override {
    peer_state_->may_have_message = may_have_message;
  }

 private:
  int slots_;
  std::uint64_t consumed_ = 0, produced_seen_ = 0;
};

class far_receiver;

class far_sender final
    : public end_with_state<one_sided::message_channel_sender, arrived_credit, arrivals> {
 public:
  far_sender(const channel_end& end, library& lib, one_sided::region& memory, std::size_t offset)
      : end_with_state(end, lib, memory, offset), slots_(end.slots), slot_(lib, end.slot_bytes) {}

  void pair_with(far_receiver& reverse) noexcept { reverse_ = &reverse; }
  void take_credit(std::uint64_t credit) noexcept {
    consumed_seen_ = std::max(consumed_seen_, credit);
  }
  std::byte* reserve() override;
  void commit(std::size_t bytes) override;

 private:
  [[nodiscard]] bool is_full() const noexcept {
    return produced_ - consumed_seen_ == static_cast<std::uint64_t>(slots_);
  }

  int slots_;
  reserved_slot slot_;
  far_receiver* reverse_ = nullptr;
  std::uint64_t produced_ = 0, consumed_seen_ = 0;
};

class far_receiver final : public end_with_state<watched_receiver, arrivals, arrived_credit>,
                           public one_sided::receiver_credits {
 public:
  far_receiver(const channel_end& end, library& lib, one_sided::region& memory, std::size_t offset)
      : end_with_state(end, lib, memory, offset), receiver_credits(end, lib.credits()) {}

  void pair_with(one_sided::message_channel_sender& reverse) override {
    reverse_ = &static_cast<far_sender&>(reverse);
    reverse_->pair_with(*this);
  }
  std::optional<std::span<const std::byte>> front() override {
    given_message* const message = state_->first;
    if (message == nullptr) {
      // Before after_empty_poll(), in which messages may arrive.
      if (state_->may_have_message != nullptr) *state_->may_have_message = false;
      after_empty_poll([this] { library_.progress(); });
      return std::nullopt;
    }
    if (credits_read_ == consumed()) {
      ++credits_read_;
      if (reverse_ != nullptr) reverse_->take_credit(message->credit);
    }
    send_credit_if_due();
    if (charged_ == consumed()) {
      ++charged_;
      library_.shared().messages.charge_receive(library_.rank(), message->bytes);
    }
    return std::span<const std::byte>(slot_of(*message), message->bytes);
  }
  void release() override {
    assert(consumed() < credits_read_);
    std::byte* const slot = slot_of(*state_->first);
    state_->first = state_->first->next;
    library_.shared().return_slot(slot);
    count_release();
  }
  /// Gives the paired sender the credits of all messages that have arrived.
  void collect_credits() {
    std::uint64_t number = consumed();
    for (const auto* message = state_->first; message != nullptr; message = message->next)
      if (++number > credits_read_) {
        credits_read_ = number;
        reverse_->take_credit(message->credit);
      }
  }
  void watch(bool* may_have_message) noexcept override {
    state_->may_have_message = may_have_message;
  }

 private:
  void put_credit(std::uint64_t credit) override {
    transfer put;
    put.from = library_.rank();
    put.to = peer();
    put.signal_at = reinterpret_cast<std::byte*>(peer_state_);
    put.signal = credit;
    put.is_credit = true;
    library_.shared().messages.start(put);
  }
  [[nodiscard]] std::byte* slot_of(given_message& message) const noexcept {
    return message.slot(sent_slot_bytes(slot_bytes(), message.bytes));
  }

  far_sender* reverse_ = nullptr;
  std::uint64_t credits_read_ = 0;  // number of messages whose credit has been taken
  std::uint64_t charged_ = 0;       // number of messages whose overhead was charged
};

std::byte* far_sender::reserve() {
  if (is_full()) {
    const std::uint64_t credit = state_->consumed;
    if (reverse_ != nullptr) reverse_->collect_credits();
    take_credit(credit);
    if (is_full()) {
      state_->is_wanted = 1;
      library_.credits().send_all();  // the peer may wait for these credits
      library_.progress();
      return nullptr;
    }
  }
  return slot_.get();
}

void far_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && !is_full());
  ++produced_;
  const std::uint64_t credit = reverse_ != nullptr ? reverse_->piggyback_credit() : 0;
  given_message& message =
      given_message::behind(slot_.send(bytes), sent_slot_bytes(slot_bytes(), bytes));
  message = {nullptr, bytes, credit};
  transfer put;
  put.from = library_.rank();
  put.to = peer();
  put.remote = reinterpret_cast<std::byte*>(peer_state_);
  put.local = reinterpret_cast<std::byte*>(&message);
  put.bytes = bytes;
  put.gives_message = true;
  library_.shared().messages.start(put);
}

class watched_receivers final : public quiet_receivers {
 public:
  watched_receivers(std::span<channel_receiver* const> receivers, library& lib)
      : library_(lib), receivers_(receivers), may_have_message_(new bool[receivers.size()]) {
    std::fill_n(may_have_message_.get(), receivers.size(), true);
    for (std::size_t i = 0; i < receivers.size(); ++i) watched(i).watch(&may_have_message_[i]);
  }
  ~watched_receivers() override {
    for (std::size_t i = 0; i < receivers_.size(); ++i) watched(i).watch(nullptr);
  }
  watched_receivers(const watched_receivers&) = delete;
  watched_receivers& operator=(const watched_receivers&) = delete;

  std::size_t poll(std::size_t next, std::size_t limit) override {
    library_.synchronise();
    std::size_t polled = 0;
    while (polled < limit) {
      const bool* const first = &may_have_message_[next];
      const std::size_t row = std::min(limit - polled, receivers_.size() - next);
      const auto* const found = static_cast<const bool*>(std::memchr(first, 1, row));
      const std::size_t quiet = found == nullptr ? row : static_cast<std::size_t>(found - first);
      polled += quiet;
      next = next + quiet == receivers_.size() ? 0 : next + quiet;
      if (found != nullptr) break;
    }
    if (polled > 0) library_.poll(polled);
    return polled;
  }

 private:
  [[nodiscard]] watched_receiver& watched(std::size_t i) const noexcept {
    return static_cast<watched_receiver&>(*receivers_[i]);
  }

  library& library_;
  std::span<channel_receiver* const> receivers_;
  std::unique_ptr<bool[]> may_have_message_;  // indexed as the receivers
};

}  // namespace

std::size_t bytes_of_end(const channel_end& end, bool sends, bool is_near) {
  std::size_t bytes = sends ? sizeof(arrived_credit) : sizeof(arrivals);
  if (is_near)
    bytes = sends ? sizeof(near_channel) +
                        static_cast<std::size_t>(end.slots) * sizeof(near_channel::sent_message)
                  : 0;
  return round_up(bytes, word_bytes);
}

std::size_t bytes_of_messages(std::span<const channel_end> to, std::span<const channel_end> from) {
  constexpr std::size_t max_bytes = std::size_t{1} << 62;  // a sum of two does not overflow
  std::size_t bytes = to.size() * sizeof(far_sender) + from.size() * sizeof(far_receiver);
  for (const auto& end : to)
    bytes = std::min(max_bytes, bytes + std::min(max_bytes, end.slot_bytes));
  return bytes;
}

std::unique_ptr<one_sided::message_channel_sender> make_sender(const channel_end& end, library& lib,
                                                               one_sided::region& memory,
                                                               std::size_t offset) {
  if (lib.is_near(end.peer)) return std::make_unique<near_sender>(end, lib, memory, offset);
  return std::make_unique<far_sender>(end, lib, memory, offset);
}

std::unique_ptr<one_sided::message_channel_receiver> make_receiver(const channel_end& end,
                                                                   library& lib,
                                                                   one_sided::region& memory,
                                                                   std::size_t offset) {
  if (lib.is_near(end.peer)) return std::make_unique<near_receiver>(end, lib, memory, offset);
  return std::make_unique<far_receiver>(end, lib, memory, offset);
}

std::unique_ptr<quiet_receivers> watch(std::span<channel_receiver* const> receivers, library& lib) {
  return std::make_unique<watched_receivers>(receivers, lib);
}

}  // namespace longshore::simulated
