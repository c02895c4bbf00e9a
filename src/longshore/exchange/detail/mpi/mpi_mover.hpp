// The base of the movers that call MPI. It has the arguments of the calls for each message, and packs
// and stores messages that are not contiguous in memory. The derived classes make the calls.
#pragma once

#include <longshore/exchange/detail/movers/mover.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/detail/watchdog.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace longshore::mpi {

using detail::exchange_round, detail::mover_context;

/// The arguments of a call for one message. If there is no message, `rank` is MPI_PROC_NULL, and the
/// call moves 0 bytes.
struct call_arguments {
  std::byte* data = nullptr;
  int bytes = 0;
  int rank = MPI_PROC_NULL;
  int tag = 0;
};

/// Which messages travel through the buffer of a mover.
enum class buffering {
  strided,  ///< the messages that are not contiguous
  all,      ///< all messages
  /// The outgoing messages that are not contiguous. Incoming messages have no address until the
  /// mover calls receive_into() or receive_in_place().
  strided_outgoing,
  none  ///< no message: MPI reads and writes the memory, and `data` stays null
};

class mpi_mover : public detail::mover {
 public:
  void start(std::span<const detail::combiner> combiners) final;
  void progress() final {
    if (!is_done() && test_calls()) store_all();
  }
  void complete() final;
  [[nodiscard]] int awaited_peer() const final {
    return incoming_.empty() ? -1 : incoming_.front().rank;
  }
  [[nodiscard]] std::size_t pending() const final { return is_done() ? 0 : 1; }
  [[nodiscard]] traffic moved() const final { return moved_; }
  [[nodiscard]] exchange_transfers transfers() const final { return transfers_; }
  [[nodiscard]] std::size_t memory_bytes() const override;
  void rebind() final {
    store_.rebind();
    copies_.reset();
  }

 protected:
  mpi_mover(const mover_context& context, const exchange_round& round, std::span<const int> tags,
            buffering buffered = buffering::strided);

  /// Packs each message before it is sent. Calls that block may block here.
  virtual void start_calls() = 0;
  /// Whether all messages have arrived and were sent.
  [[nodiscard]] virtual bool test_calls() { return true; }
  /// Returns when all messages have arrived and were sent.
  virtual void wait_calls() {}

  struct sent_message : call_arguments {
    detail::message_packer packer;
  };
  struct received_message : call_arguments {
    std::size_t number;  // in the store
    bool is_in_place;    // whether it arrives in the memory of the plan
  };
  /// Packs an outgoing message, unless it is sent from its memory.
  void pack(const sent_message& out) const {
    if (is_in_buffer(out)) out.packer.pack(context_, out.data);
  }
  [[nodiscard]] bool is_in_buffer(const call_arguments& call) const noexcept {
    return call.data >= buffer_.data() && call.data < buffer_.data() + buffer_bytes_;
  }
  /// The messages of a pair. The packer of a message that does not exist is not used.
  [[nodiscard]] const sent_message& outgoing(const detail::call_pair& pair) const noexcept {
    return pair.outgoing < 0 ? no_outgoing_ : outgoing_[static_cast<std::size_t>(pair.outgoing)];
  }
  [[nodiscard]] const call_arguments& incoming(const detail::call_pair& pair) const noexcept {
    return pair.incoming < 0 ? no_incoming_ : incoming_[static_cast<std::size_t>(pair.incoming)];
  }
  [[nodiscard]] const detail::call_pair& opposite(const detail::call_pair& pair) const noexcept {
    return pairs_[static_cast<std::size_t>(pair.opposite)];
  }
  /// From now on, messages arrive in `memory`, one after another, each on cache lines of its own.
  /// Call once, before the first exchange. REQUIRES: buffering strided_outgoing; `memory` has
  /// incoming_bytes().
  void receive_into(std::byte* memory);
  [[nodiscard]] std::size_t incoming_bytes() const noexcept;
  /// Like receive_into(), but messages arrive in the memories of the plan. REQUIRES: each is
  /// contiguous there.
  void receive_in_place(const exchange_round& round);
  struct blocking_calls {
    watchdog::section deadline;
    detail::timed_phase waiting;
  };
  /// Returns a guard for calls that block, whose time is that of waiting. If the guard exists longer
  /// than the timeout of the team, the watchdog ends the process.
  [[nodiscard]] blocking_calls limit_time() {
    return {{team_.watchdog(), context_.awaited}, {context_.clock, detail::exchange_phase::wait}};
  }
  /// Returns a guard for calls that send a message, or begin to send or receive one.
  [[nodiscard]] detail::timed_phase sending() const {
    return {context_.clock, detail::exchange_phase::send};
  }
  [[nodiscard]] MPI_Comm comm() const noexcept { return team_.comm(); }

  const mover_context& context_;
  mpi::team& team_;
  std::vector<detail::call_pair> pairs_;
  std::vector<sent_message> outgoing_;
  std::vector<received_message> incoming_;

 private:
  void store_all();

  detail::message_store store_;
  // The copies of all packed messages, if they are boxes. Opposite faces are stored together.
  std::optional<detail::copy_batch> copies_;
  std::vector<std::size_t> messages_to_self_;  // their numbers in store_; they are copied
  pages buffer_;
  std::size_t buffer_bytes_ = 0;
  traffic moved_;
  exchange_transfers transfers_;
  sent_message no_outgoing_;
  call_arguments no_incoming_;
};

using made_mover = std::unique_ptr<detail::mover>;
[[nodiscard]] made_mover make_pair_mover(detail::carrier by, const mover_context& context,
                                         const exchange_round& round, std::span<const int> tags);
[[nodiscard]] made_mover make_request_mover(detail::carrier by, const mover_context& context,
                                            const exchange_round& round, std::span<const int> tags);
/// Collective.
[[nodiscard]] made_mover make_neighbor_mover(const mover_context& context,
                                             const exchange_round& round,
                                             std::span<const int> tags);
/// Collective.
[[nodiscard]] made_mover make_rma_mover(detail::carrier by, const mover_context& context,
                                        const exchange_round& round, std::span<const int> tags);

}  // namespace longshore::mpi
