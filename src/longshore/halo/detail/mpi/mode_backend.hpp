// The base of the backends of the MPI modes. It has the arguments of the MPI calls for each
// message, and packs and unpacks messages that are not contiguous in memory. The derived classes
// make the MPI calls.
#pragma once

#include <longshore/halo/detail/mpi/exchange_backend.hpp>
#include <longshore/halo/detail/mpi/packed_message.hpp>
#include <longshore/halo/detail/mpi/round_setup.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/detail/watchdog.hpp>
#include <longshore/transport/mpi/detail/communicator.hpp>

#include <span>
#include <vector>

namespace longshore::mpi {

/// The arguments of an MPI call for one message. If there is no message, `rank` is MPI_PROC_NULL,
/// and the call is made with 0 bytes.
struct call_arguments {
  void* data = nullptr;
  int bytes = 0;
  int rank = MPI_PROC_NULL;
  // The tag depends on the direction in which the message travels. So the messages between two
  // ranks that are neighbours in several directions have different tags.
  int tag = 0;
};

/// Which messages travel through the buffer.
enum class buffering {
  strided,           ///< the messages that are not contiguous
  all,               ///< all messages
  strided_outgoing,  ///< the outgoing messages that are not contiguous; incoming messages have no
                     ///< address until the backend calls receive_into() or receive_in_place()
  none               ///< no message: the MPI library reads and writes the cells directly, and
                     ///< call_arguments::data stays null
};

/// Base of the backends. Contiguous messages are sent from their cells, and received into their
/// cells. Other messages travel through a buffer: they are packed before sending, and unpacked when
/// all messages have arrived. A rank also sends messages to itself through MPI. Memory per rank:
/// the messages that are not contiguous.
///
/// A derived class packs each message before it sends the message. If messages are in flight at the
/// end of start(), start() sets in_flight_, and test_calls() or wait_calls() completes the
/// exchange. Otherwise start() also unpacks the messages.
class mode_backend : public detail::exchange_backend {
 public:
  /// Local.
  explicit mode_backend(const round_setup& setup, buffering buffered = buffering::strided);

  [[nodiscard]] bool test() final {
    if (in_flight_ && test_calls()) complete();
    return !in_flight_;
  }
  void wait() final {
    if (!in_flight_) return;
    {
      const auto deadline = limit_time();
      wait_calls();
    }
    complete();
  }
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return static_cast<const std::byte*>(incoming_[pair].data);
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] halo_transfers transfers() const override { return {.mpi = moved_.payload_bytes}; }

 protected:
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_->get(); }
  [[nodiscard]] std::size_t count() const noexcept { return round_.size(); }
  [[nodiscard]] const detail::halo_round& round() const noexcept { return round_; }
  [[nodiscard]] const call_arguments& outgoing(std::size_t pair) const noexcept {
    return outgoing_[pair];
  }
  [[nodiscard]] const call_arguments& incoming(std::size_t pair) const noexcept {
    return incoming_[pair];
  }
  /// The index of the pair whose messages travel in the direction opposite to those of `pair`. It
  /// is count() if the round has no such pair.
  [[nodiscard]] std::size_t opposite(std::size_t pair) const noexcept { return opposite_[pair]; }

  /// Packs the outgoing message of a pair, unless it is contiguous.
  void pack(std::size_t pair) const {
    if (packing_[pair].size_bytes() > 0)
      packing_[pair].pack(static_cast<std::byte*>(outgoing_[pair].data), workers_);
  }
  /// Unpacks the incoming messages that are not contiguous. REQUIRES: all have arrived.
  void unpack_all() const {
    for (std::size_t i = 0; i < count(); ++i)
      if (unpacking_[i].size_bytes() > 0)
        unpacking_[i].unpack(static_cast<const std::byte*>(incoming_[i].data), workers_);
  }
  /// The bytes that receive_into() needs, where each message begins on a cache line.
  [[nodiscard]] std::size_t incoming_bytes() const noexcept;
  /// From now on, messages arrive in `memory`, one after another in the order of the pairs, and
  /// unpack_all() reads them there. Call receive_into() once, before the first exchange. REQUIRES:
  /// buffering strided_outgoing, and `memory` has incoming_bytes().
  void receive_into(std::byte* memory);
  /// Returns the memory of all incoming messages if each is contiguous and no gaps are between
  /// them. Otherwise the span is empty.
  [[nodiscard]] std::span<std::byte> contiguous_incoming() const;
  /// From now on, messages arrive in the cells. Call receive_in_place() once, instead of
  /// receive_into(). REQUIRES: buffering strided_outgoing, and each incoming message is contiguous.
  void receive_in_place();
  /// The copies that pack an outgoing message. There are none if the message is contiguous.
  [[nodiscard]] const detail::packed_message& packing(std::size_t pair) const noexcept {
    return packing_[pair];
  }
  /// The ranks from which messages come, in ascending order and without repetition. This rank is
  /// one of them if it sends messages to itself.
  [[nodiscard]] std::vector<int> sources() const { return ranks_of(incoming_); }
  /// The ranks to which messages go, in ascending order and without repetition, as in sources().
  [[nodiscard]] std::vector<int> destinations() const { return ranks_of(outgoing_); }
  /// The buffer of packed messages; null if no message is buffered.
  [[nodiscard]] std::byte* buffer() const noexcept { return buffers_.data(); }
  /// Returns a guard. Keep it in a variable around blocking MPI calls: if the guard lives longer
  /// than the timeout of the team, the watchdog ends the process.
  [[nodiscard]] watchdog::section limit_time() { return {watchdog_, "a halo exchange"}; }

  bool in_flight_ = false;

 private:
  /// Whether all messages have arrived and were sent.
  [[nodiscard]] virtual bool test_calls() { return true; }
  /// Returns when all messages have arrived and were sent.
  virtual void wait_calls() {}
  void complete() {
    in_flight_ = false;
    unpack_all();
  }
  static std::vector<int> ranks_of(const std::vector<call_arguments>& messages);

  detail::halo_round round_;
  std::shared_ptr<const communicator> comm_;
  int first_tag_;
  tasks* workers_;
  watchdog& watchdog_;  // of the team
  std::vector<std::size_t> opposite_;
  std::vector<call_arguments> outgoing_, incoming_;
  std::vector<detail::packed_message> packing_, unpacking_;  // empty if the message is contiguous
  pages buffers_;
  traffic moved_;
};

// Each function makes the backends of a group of modes. make_neighbor_backend and make_rma_backend
// are collective; the other two are local.
using made_backend = std::unique_ptr<detail::exchange_backend>;
[[nodiscard]] made_backend make_blocking_backend(halo_mode mode, const round_setup& setup);
[[nodiscard]] made_backend make_nonblocking_backend(halo_mode mode, const round_setup& setup);
[[nodiscard]] made_backend make_neighbor_backend(const round_setup& setup);
[[nodiscard]] made_backend make_rma_backend(halo_mode mode, const round_setup& setup);

}  // namespace longshore::mpi
