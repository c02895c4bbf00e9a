// The interface to a library of one-sided communication: memory with a part on every rank, puts,
// gets and atomics on the parts of other ranks, and an order between puts. The other files of this
// folder build segments, channels and collectives on this interface. shmem/ and ucx/ implement the
// interface.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/detail/raw_calls.hpp>
#include <longshore/transport/node_map.hpp>
#include <longshore/transport/simulated_rank.hpp>

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
  /// As segment::fetch_add_start.
  virtual void fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                               std::int64_t* previous) {
    *previous = fetch_add(peer, offset, *amount);
  }

  /// As put_start, and then sets the 8 bytes at `signal_offset` to `*signal`. When the peer sees
  /// the signal, it also sees the data and all earlier puts of this rank. `from` and `signal` must
  /// point into regions, and their contents must not change before they have left this rank.
  /// `bytes` may be 0.
  virtual void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                               std::size_t signal_offset, const std::uint64_t* signal) = 0;
  /// Only of a simulated machine. As a put of `bytes` bytes, but the peer gets the message itself,
  /// which joins the detail::simulated_arrivals at `offset`.
  virtual void give(int /*peer*/, std::size_t /*offset*/, detail::simulated_message& /*message*/,
                    std::size_t /*bytes*/) {}
  /// Only of a simulated machine. As put_with_signal() of no bytes. The signal ends a wait of the
  /// peer only if the word behind it is not 0, and then sets that word to 0.
  virtual void give_credit(int /*peer*/, std::size_t /*offset*/, std::uint64_t /*credit*/) {}
  /// Local. No rank needs this range of this rank's part any more, and its contents are undefined
  /// from now on. A simulated machine frees its pages.
  virtual void forget(std::size_t /*offset*/, std::size_t /*bytes*/) {}

 protected:
  explicit region(std::byte* local) : local_(local) {}
  void set_local(std::byte* local) noexcept { local_ = local; }

 private:
  std::byte* local_;
};

/// A channel end that a library implements by its own messages. Messages address an end by its
/// number. connect() gets the number of the other end.
class message_channel_sender : public channel_sender {
 public:
  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  virtual void connect(std::uint32_t receiver) noexcept = 0;

 protected:
  using channel_sender::channel_sender;
};
class message_channel_receiver : public channel_receiver {
 public:
  [[nodiscard]] virtual std::uint32_t number() const noexcept = 0;
  virtual void connect(std::uint32_t sender) noexcept = 0;

 protected:
  using channel_receiver::channel_receiver;
};

/// Memory for the slots of a channel end, which outlives the end. Slot i is at begin + i *
/// stride_bytes.
struct slot_memory {
  int slots;
  std::byte* begin;
  std::size_t stride_bytes;
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
  /// The transport as users type it ("shmem", "ucx").
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

  /// Whether channels with `peer` should use messages of the library instead of puts, because puts
  /// need the peer's CPU. The same on both ranks.
  [[nodiscard]] virtual bool prefers_messages(int /*peer*/) { return false; }
  /// Local. REQUIRES: prefers_messages(end.peer).
  [[nodiscard]] virtual std::unique_ptr<message_channel_sender> make_sender(
      channel_end /*end*/, slot_memory /*memory*/) {
    return nullptr;
  }
  [[nodiscard]] virtual std::unique_ptr<message_channel_receiver> make_receiver(
      channel_end /*end*/, slot_memory /*memory*/) {
    return nullptr;
  }

  /// Whether messages of the library are in flight from regions or into regions. Such regions must
  /// not be freed.
  [[nodiscard]] virtual bool is_sending() const { return false; }
  [[nodiscard]] virtual bool is_receiving() const { return false; }

  /// The rank of a simulated machine, if the library is one.
  [[nodiscard]] virtual detail::simulated_rank* simulated() { return nullptr; }
  /// If ranks are no processes: ends this rank alone, and does not return. The run ends with the
  /// first failure of a rank.
  virtual void end_rank() {}

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
};

}  // namespace longshore::one_sided
