// The base of the backends of the MPI modes: the arguments of the MPI calls for each message, and
// the packing of messages that are not contiguous in memory.
#pragma once

#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/halo/detail/copy/packed_message.hpp>
#include <longshore/halo/detail/mpi/round_communicator.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/communicator.hpp>
#include <longshore/transport/watchdog.hpp>

#include <span>
#include <vector>

namespace longshore::mpi {

/// The arguments of an MPI call for one message. If there is no message, `rank` is MPI_PROC_NULL,
/// and the call is made with 0 bytes.
struct call_arguments {
  void* data = nullptr;
  int bytes = 0;
  int rank = MPI_PROC_NULL;
  // contains the direction of travel, and so is unique between two ranks that are neighbours in
  // several directions
  int tag = 0;
};

/// Which messages travel through the buffer.
enum class buffering {
  strided,           ///< the messages that are not contiguous
  all,               ///< all messages
  strided_outgoing,  ///< as strided, but receive_into() or receive_in_place() place incoming ones
  none               ///< no message: the MPI library reads and writes the cells by itself
};

/// Base of the backends. Contiguous messages are sent from, and received into, their cells. Others
/// travel through a buffer, which is packed before sending, and unpacked when all messages have
/// arrived. A rank sends messages to itself like any other. Memory per rank: the messages that are
/// not contiguous.
class mode_backend : public detail::exchange_backend {
 public:
  /// Collective. Throws errc::usage if two ranks disagree on the size of a message between them.
  mode_backend(const rank_grid& grid, detail::halo_round round, const round_communicator& tags,
               tasks* workers, buffering which = buffering::strided);

  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return static_cast<const std::byte*>(incoming_[pair].data);
  }
  [[nodiscard]] traffic moved() const override { return moved_; }

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
  /// The pair that travels in the opposite direction.
  [[nodiscard]] std::size_t opposite(std::size_t pair) const noexcept { return opposite_[pair]; }

  /// Packs the outgoing message of a pair, unless it is contiguous.
  void pack(std::size_t pair) const {
    if (packing_[pair].size_bytes() > 0)
      packing_[pair].pack(static_cast<std::byte*>(outgoing_[pair].data), workers_);
  }
  void unpack(std::size_t pair) const {
    if (unpacking_[pair].size_bytes() > 0)
      unpacking_[pair].unpack(static_cast<const std::byte*>(incoming_[pair].data), workers_);
  }
  void unpack_all() const {
    for (std::size_t i = 0; i < count(); ++i) unpack(i);
  }
  /// The bytes that receive_into() needs. Each message begins on a cache line.
  [[nodiscard]] std::size_t incoming_bytes() const noexcept;
  /// Makes all messages arrive in `memory`, one after the other in the order of the pairs, from
  /// where they are unpacked. REQUIRES: buffering strided_outgoing.
  void receive_into(std::byte* memory);
  /// The memory of all incoming messages if they are contiguous and adjacent to each other, else
  /// empty.
  [[nodiscard]] std::span<std::byte> contiguous_incoming() const;
  /// Makes messages arrive in their cells. REQUIRES: buffering strided_outgoing, and
  /// contiguous_incoming() is not empty.
  void receive_in_place();
  /// The copies that pack an outgoing message; none if it is contiguous.
  [[nodiscard]] const detail::packed_message& packing(std::size_t pair) const noexcept {
    return packing_[pair];
  }
  /// The ranks with incoming, or outgoing, messages: ascending, each once. They may include this
  /// rank.
  [[nodiscard]] std::vector<int> sources() const { return ranks_of(incoming_); }
  [[nodiscard]] std::vector<int> destinations() const { return ranks_of(outgoing_); }
  /// The buffer of packed messages.
  [[nodiscard]] std::byte* buffer() const noexcept { return buffers_.data(); }
  /// Limits the time of blocking calls as long as the result lives.
  [[nodiscard]] watchdog::section guarded() { return {dog_, "a halo exchange"}; }

 private:
  void check_sizes(const rank_grid& grid);
  static std::vector<int> ranks_of(const std::vector<call_arguments>& messages);

  detail::halo_round round_;
  std::shared_ptr<const communicator> comm_;
  int first_tag_;
  tasks* workers_;
  watchdog& dog_;  // the team's
  std::vector<std::size_t> opposite_;
  std::vector<call_arguments> outgoing_, incoming_;
  std::vector<detail::packed_message> packing_, unpacking_;  // empty if the message is contiguous
  pages buffers_;
  traffic moved_;
};

}  // namespace longshore::mpi
