// What the MPI modes share: each leg's two buffers, who is at their other ends, and packing where a
// message is not dense in memory.
#pragma once

#include <longshore/halo/detail/mpi/lane.hpp>
#include <longshore/halo/detail/packed_message.hpp>
#include <longshore/halo/mode.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/communicator.hpp>
#include <longshore/transport/watchdog.hpp>

#include <span>
#include <vector>

namespace longshore::mpi {

/// A message as MPI calls need it. `rank` is MPI_PROC_NULL where there is nobody: then the call is
/// made all the same, with 0 bytes.
struct message_end {
  void* data = nullptr;
  int bytes = 0;
  int rank = MPI_PROC_NULL;
  // the direction of travel: unique between two ranks, also where one is the other's neighbour on
  // both sides
  int tag = 0;
};

/// Which messages go by way of the buffer.
enum class by_buffer {
  where_needed,  ///< those that are not dense
  all,           ///< all
  /// outgoing ones where needed; where incoming ones arrive is said by place_incoming
  all_but_incoming,
  none  ///< none: the calls find the cells themselves
};

/// Base of the carriers. Dense messages are sent from, and received to, where they lie; the others
/// by way of a buffer that is packed before sending and unpacked after all have arrived. Messages
/// to the own rank are messages as any other. Memory per rank: the messages that are not dense.
class legs : public message_carrier {
 public:
  /// Collective. Throws errc::usage when two ranks do not agree on the size of a message between
  /// them.
  legs(const rank_grid& grid, detail::halo_round round, const lane& where, tasks* workers,
       by_buffer which = by_buffer::where_needed);

  [[nodiscard]] const std::byte* received(std::size_t leg) const override {
    return static_cast<const std::byte*>(incoming_[leg].data);
  }
  [[nodiscard]] traffic moved() const override { return moved_; }

 protected:
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_->get(); }
  [[nodiscard]] std::size_t count() const noexcept { return round_.size(); }
  [[nodiscard]] const detail::halo_round& round() const noexcept { return round_; }
  [[nodiscard]] const message_end& outgoing(std::size_t leg) const noexcept {
    return outgoing_[leg];
  }
  [[nodiscard]] const message_end& incoming(std::size_t leg) const noexcept {
    return incoming_[leg];
  }
  /// The leg that travels the other way.
  [[nodiscard]] std::size_t opposite(std::size_t leg) const noexcept { return opposite_[leg]; }

  /// Makes the outgoing message of a leg ready to be sent. Costs nothing when it is dense.
  void pack(std::size_t leg) const {
    if (packing_[leg].size_bytes() > 0)
      packing_[leg].pack(static_cast<std::byte*>(outgoing_[leg].data), workers_);
  }
  void unpack(std::size_t leg) const {
    if (unpacking_[leg].size_bytes() > 0)
      unpacking_[leg].unpack(static_cast<const std::byte*>(incoming_[leg].data), workers_);
  }
  void unpack_all() const {
    for (std::size_t i = 0; i < count(); ++i) unpack(i);
  }
  /// Bytes that place_incoming needs. Each message begins on a cache line.
  [[nodiscard]] std::size_t incoming_bytes() const noexcept;
  /// REQUIRES: all_but_incoming. All messages arrive in `memory`, one after the other in the order
  /// of the legs, and are unpacked from there.
  void place_incoming(std::byte* memory);
  /// Whether all incoming messages are dense and lie together: the memory from the first to the
  /// last, else empty.
  [[nodiscard]] std::span<std::byte> incoming_together() const;
  /// REQUIRES: all_but_incoming. Messages arrive where they belong. REQUIRES: incoming_together()
  /// is not empty.
  void leave_incoming();
  /// The copies of an outgoing message; none where it is dense.
  [[nodiscard]] const detail::packed_message& packing(std::size_t leg) const noexcept {
    return packing_[leg];
  }
  /// The other ranks with incoming, or outgoing, messages, and this one if it is among them:
  /// ascending, each once.
  [[nodiscard]] std::vector<int> sources() const { return ranks_of(incoming_); }
  [[nodiscard]] std::vector<int> destinations() const { return ranks_of(outgoing_); }
  /// The buffer in which packed messages lie.
  [[nodiscard]] std::byte* buffer() const noexcept { return buffers_.data(); }
  /// The deadline of blocking calls runs while the result lives.
  [[nodiscard]] watchdog::section guarded() { return {dog_, "a halo exchange"}; }

 private:
  void check_sizes(const rank_grid& grid);
  static std::vector<int> ranks_of(const std::vector<message_end>& ends);

  detail::halo_round round_;
  std::shared_ptr<const communicator> comm_;
  int first_tag_;
  tasks* workers_;
  watchdog& dog_;  // the team's
  std::vector<std::size_t> opposite_;
  std::vector<message_end> outgoing_, incoming_;
  std::vector<detail::packed_message> packing_, unpacking_;  // empty where the message is dense
  pages buffers_;
  traffic moved_;
};

}  // namespace longshore::mpi
