// The interface to a library of one-sided communication. It has memory with a part on every rank;
// puts, gets and atomics on the parts of other ranks; and an order between puts. The other files of
// this folder build segments, channels and collectives on this interface. The sibling folders, such
// as shmem/ and ucx/, implement the interface. In one of them ranks are not processes, and time is
// computed (cost_sink.hpp).
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/cost_sink.hpp>
#include <longshore/transport/detail/raw_calls.hpp>
#include <longshore/transport/node_map.hpp>
#include <longshore/transport/one_sided/detail/credits.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::one_sided {

/// A number that is the same on all ranks of a host, and very probably different on other hosts.
[[nodiscard]] std::uint64_t host_hash();

/// Library memory of the same size on each rank, zero at first. Other ranks access this rank's part
/// without its help if the hardware allows that. Allocating and freeing a region are collective,
/// and the library waits for all ranks without a deadline. So a team makes a barrier, which has a
/// deadline, before each allocation and free.
class region {
 public:
  virtual ~region() = default;
  region(const region&) = delete;
  region& operator=(const region&) = delete;

  /// This rank's part, aligned to a page.
  [[nodiscard]] std::byte* local() const noexcept { return local_; }
  /// The part of `peer` if this process can load and store there, else null. Not null for this
  /// rank's own part.
  [[nodiscard]] virtual std::byte* direct(int peer) = 0;

  /// Start a put or a get, which is complete when library::quiet() returns. Before that, the caller
  /// must not write to the memory at `from`, nor use the memory at `to`.
  virtual void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// The caller may reuse the memory at `from` on return.
  virtual void put(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Complete on return.
  virtual void get(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  virtual std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) = 0;
  /// Like segment::fetch_add_start.
  virtual void fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                               std::int64_t* previous) {
    *previous = fetch_add(peer, offset, *amount);
  }

  /// Like put_start, and then sets the 8 bytes at `signal_offset` to `*signal`. When the peer sees
  /// the signal, it also sees the data and all earlier puts of this rank. `from` and `signal` must
  /// point into regions, and their contents must not change before they have left this rank.
  /// `bytes` may be 0.
  virtual void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                               std::size_t signal_offset, const std::uint64_t* signal) = 0;
  /// Local. A hint: no rank needs this range of this rank's part any more, and its contents are
  /// undefined from now on.
  virtual void discard(std::size_t /*offset*/, std::size_t /*bytes*/) {}

 protected:
  explicit region(std::byte* local) : local_(local) {}
  void set_local(std::byte* local) noexcept { local_ = local; }

 private:
  std::byte* local_;
};

/// Channel ends that a library makes. Each end has a number, which is not 0. connect() gets the
/// number of the other end.
class message_channel_sender : public channel_sender {
 public:
  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  virtual void connect(std::uint32_t receiver) = 0;

 protected:
  using channel_sender::channel_sender;
};
class message_channel_receiver : public channel_receiver {
 public:
  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  virtual void connect(std::uint32_t sender) = 0;
  /// The channel in the reverse direction, if there is one. The peer makes the same pairs.
  virtual void pair_with(message_channel_sender& /*reverse*/) {}

 protected:
  using channel_receiver::channel_receiver;
};

/// A started library, as one rank sees it.
class library {
 public:
  virtual ~library() = default;
  library() = default;
  library(const library&) = delete;
  library& operator=(const library&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int size() const = 0;
  /// The transport as users type it.
  [[nodiscard]] virtual std::string_view transport_name() const noexcept = 0;
  /// The library and its version.
  [[nodiscard]] virtual std::string version() const = 0;

  /// Collective. Null on a rank that does not have the memory. A rank may use the parts of other
  /// ranks after a synchronisation that follows the allocation.
  [[nodiscard]] virtual std::unique_ptr<region> allocate(std::size_t bytes) = 0;
  /// Bytes that each of the `ranks` ranks of this host can still allocate. The largest integer if
  /// all ranks have the same limit, so that allocate() fails on all ranks or on none.
  [[nodiscard]] virtual std::size_t available_bytes(int ranks) const = 0;
  /// Text for messages: the total capacity, and how a user can increase the capacity.
  [[nodiscard]] virtual std::string capacity_text() const = 0;
  /// Collective. The numbers of all ranks, indexed by rank. Waits without a deadline. Called only
  /// at the start.
  [[nodiscard]] virtual std::vector<std::uint64_t> allgather(std::uint64_t mine) = 0;
  /// The map of this rank, with the arguments of node_map. Ranks of one process may share memory.
  [[nodiscard]] virtual node_map make_node_map(std::span<const int> host_of, int ranks_per_node) {
    return {host_of, rank(), ranks_per_node};
  }

  /// Whether the library makes the ends of channels with `peer` itself. Otherwise they are rings in
  /// memory within a node, and puts with signals between nodes. The same on both ranks. `is_local`:
  /// the two ranks are on one node.
  [[nodiscard]] virtual bool makes_channels(int /*peer*/, bool /*is_local*/) { return false; }
  /// end_bytes() is the size of a channel's end in this rank's part of a region. later_bytes() is
  /// the size of other memory that all ends of a rank take later.
  [[nodiscard]] virtual std::size_t end_bytes(const channel_end& end, bool sends) const;
  [[nodiscard]] virtual std::size_t later_bytes(std::span<const channel_end> /*to*/,
                                                std::span<const channel_end> /*from*/) const {
    return 0;
  }
  /// Local. REQUIRES: makes_channels(). The channel end uses end_bytes() bytes of `memory`, from
  /// `offset` in this rank's part. `memory` must outlive the channel end.
  [[nodiscard]] virtual std::unique_ptr<message_channel_sender> make_sender(
      const channel_end& /*end*/, region& /*memory*/, std::size_t /*offset*/) {
    return nullptr;
  }
  [[nodiscard]] virtual std::unique_ptr<message_channel_receiver> make_receiver(
      const channel_end& /*end*/, region& /*memory*/, std::size_t /*offset*/) {
    return nullptr;
  }
  /// Makes channel_set::quiet() for a set with these receivers.
  [[nodiscard]] virtual std::unique_ptr<quiet_receivers> quiet(
      std::span<channel_receiver* const> /*receivers*/) {
    return nullptr;
  }
  [[nodiscard]] deferred_credits& credits() noexcept { return credits_; }

  /// Whether messages of the library are in flight from regions or into regions. Such regions must
  /// not be freed.
  [[nodiscard]] virtual bool is_sending() const { return false; }
  [[nodiscard]] virtual bool is_receiving() const { return false; }

  /// See team::costs().
  [[nodiscard]] virtual detail::cost_sink* costs() { return nullptr; }
  /// Whether all ranks are in one process. Then abort() ends this rank alone, and the run ends with
  /// the first failure of a rank.
  [[nodiscard]] virtual bool is_one_process() const noexcept { return false; }
  /// Whether puts, gets and atomics within a node go through the library, too. Gets are then
  /// complete on return.
  [[nodiscard]] virtual bool moves_within_nodes() const noexcept { return false; }

  /// Waits until all operations that this rank has started on any region are complete, at this rank
  /// and at the targets.
  virtual void quiet() = 0;
  /// Lets the library work on accesses of other ranks to this rank's memory, and on operations that
  /// this rank has started. Cheap.
  virtual void progress() = 0;
  /// Ends all processes.
  virtual void abort(int status) = 0;
  /// Direct calls of the library on `memory`, which must outlive the object. Outgoing messages are
  /// built at `source_offset`, and incoming messages arrive at raw_calls::message_offset.
  [[nodiscard]] virtual std::unique_ptr<detail::raw_calls> make_raw_calls(
      region& memory, std::size_t source_offset) = 0;

 private:
  deferred_credits credits_;
};

}  // namespace longshore::one_sided
