// Credits of channels between nodes. The credit of a receiver is the number of messages that it has
// released. A message of a channel in the reverse direction may carry the credit. Otherwise the
// credit has a put of its own. This put is deferred until the receiving rank waits or polls an
// empty channel, or, with four slots or more, until half of the slots are used. With
// channel_end::reads_all only half of the slots end the deferral.
#pragma once

#include <longshore/transport/channel.hpp>

#include <cstdint>
#include <vector>

namespace longshore::one_sided {

class receiver_credits;

/// The receivers of a rank that have released messages but not yet sent the credit. A credit is not
/// urgent while the sender has free slots, and a message to the sender may carry the credit. Before
/// a rank waits, it sends all deferred credits, because other ranks may wait for them.
class deferred_credits {
 public:
  void add(receiver_credits& receiver) { receivers_.push_back(&receiver); }
  void send_all();
  void remove(const receiver_credits& receiver) { std::erase(receivers_, &receiver); }

 private:
  std::vector<receiver_credits*> receivers_;
};

/// The credits of one receiver.
class receiver_credits {
 public:
  virtual ~receiver_credits() { deferred_.remove(*this); }
  receiver_credits(const receiver_credits&) = delete;
  receiver_credits& operator=(const receiver_credits&) = delete;
  /// The credit for a message to the sender. Counts the credit as sent.
  [[nodiscard]] std::uint64_t piggyback_credit() noexcept { return credit_sent_ = consumed_; }

 protected:
  receiver_credits(const channel_end& end, deferred_credits& deferred)
      : deferred_(deferred),
        all_slots_(static_cast<std::uint64_t>(end.slots)),
        reads_all_(end.reads_all) {}

  virtual void put_credit(std::uint64_t credit) = 0;
  /// Called when a poll has found no message. Sends the credit if there is one that need not be
  /// deferred. Otherwise calls `progress`.
  template <class Progress>
  void after_empty_poll(const Progress& progress) {
    // A rank may poll only this channel, and never wait. So every 8192 empty polls also send the
    // credits of its other channels. A wait makes fewer polls before it sends credits.
    constexpr unsigned polls_per_send = 8192;
    if (credit_sent_ != consumed_ && !defers_credit())
      send_credit();
    else
      progress();
    if (++empty_polls_ % polls_per_send == 0) deferred_.send_all();
  }
  void send_credit_if_due() {
    if (credit_is_due()) send_credit();
  }
  /// A message was released.
  void count_release();
  [[nodiscard]] std::uint64_t consumed() const noexcept { return consumed_; }

 private:
  friend class deferred_credits;
  void send_credit() {
    if (credit_sent_ == consumed_) return;
    credit_sent_ = consumed_;
    put_credit(consumed_);
  }
  [[nodiscard]] bool defers_credit() const noexcept { return reads_all_ && !credit_is_due(); }
  // When half of the slots are used, deferring the credit longer gains nothing.
  [[nodiscard]] bool credit_is_due() const noexcept {
    return 2 * (consumed_ - credit_sent_) >= all_slots_;
  }

  deferred_credits& deferred_;
  const std::uint64_t all_slots_;
  std::uint64_t consumed_ = 0, credit_sent_ = 0;
  bool reads_all_;
  bool is_deferred_ = false;  // this receiver is in deferred_
  unsigned empty_polls_ = 0;
};

}  // namespace longshore::one_sided
