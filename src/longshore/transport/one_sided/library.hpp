// The requirements on a library of one-sided communication, so that a transport can use it: memory
// with a part of every rank, puts, gets and atomics on the parts of other ranks, and an order
// between puts. Segments, channels, collectives, barriers and deadlines are the same for all such
// libraries; the other files of this folder implement them.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/detail/raw_calls.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::one_sided {

/// A number that is the same on all ranks of a host, and very probably different on other hosts.
[[nodiscard]] std::uint64_t host_hash();

/// A piece of the library's memory on each rank, of the same size, zero at first. Other ranks
/// access it without this rank's help if the hardware allows that. Allocating and freeing it are
/// collective, and the library waits for all ranks in both. So a team makes a barrier, which has a
/// deadline, before it.
class region {
 public:
  virtual ~region() = default;
  region(const region&) = delete;
  region& operator=(const region&) = delete;

  /// This rank's part, aligned to a page.
  [[nodiscard]] std::byte* local() const noexcept { return local_; }
  /// The part of a peer if this process can load and store there, else null. Never null for this
  /// rank's own part.
  [[nodiscard]] virtual std::byte* direct(int peer) = 0;

  /// Start a put or a get, which is complete when library::quiet() returns. Until then the source
  /// must not be written, nor the destination be used.
  virtual void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// The source can be reused on return.
  virtual void put(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Complete on return.
  virtual void get(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  virtual std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) = 0;

  /// As put_start. When all of the data is there, the 8 bytes at `signal_offset` are set to
  /// `*signal`. A rank that sees the signal also sees the data, and all that this rank has put
  /// there before. Both sources must lie in regions, and must not change. `bytes` may be 0.
  virtual void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                               std::size_t signal_offset, const std::uint64_t* signal) = 0;

 protected:
  explicit region(std::byte* local) : local_(local) {}
  void set_local(std::byte* local) noexcept { local_ = local; }

 private:
  std::byte* local_;
};

/// Ends of channels that a library implements by messages of its own. Each end has a number, by
/// which messages address it. connect() gets the number of the other end.
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

/// Memory of the slots of one end; it outlives the end. Slot i begins at begin + i * stride_bytes.
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
  /// The transport as users type it ("shmem", "ucx"); the library and its version.
  [[nodiscard]] virtual std::string_view transport_name() const noexcept = 0;
  [[nodiscard]] virtual std::string version() const = 0;

  /// Collective. Null on a rank that does not have the memory. The parts of other ranks can be used
  /// after every rank has communicated following the allocation.
  [[nodiscard]] virtual std::unique_ptr<region> allocate(std::size_t bytes) = 0;
  /// Bytes that each of the `ranks` ranks of this host can still allocate. The largest number if
  /// all ranks have the same limit, so that allocate() fails on all of them alike.
  [[nodiscard]] virtual std::size_t available_bytes(int ranks) const = 0;
  /// Text for messages: the total capacity, and how a user can increase it.
  [[nodiscard]] virtual std::string capacity_text() const = 0;
  /// Collective. The number of each rank, by rank. Waits without a deadline, and is used at the
  /// start only.
  [[nodiscard]] virtual std::vector<std::uint64_t> allgather(std::uint64_t mine) = 0;

  /// Whether channels with `peer` should use messages of the library instead of puts, because puts
  /// need the peer's CPU. The same at both ends.
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

  /// Whether messages of the library are in flight from or into regions. Those must not be freed.
  [[nodiscard]] virtual bool is_sending() const { return false; }
  [[nodiscard]] virtual bool is_receiving() const { return false; }

  /// Returns when all operations that this rank has started, on any region, are complete, also at
  /// their targets.
  virtual void quiet() = 0;
  /// Gives the library CPU time, if it needs it, for accesses of other ranks to this rank's memory
  /// and for operations that this rank has started. Cheap.
  virtual void progress() = 0;
  /// Ends all processes.
  virtual void abort(int status) = 0;
  /// Direct calls of the library on a region, which must outlive the object. Messages are built at
  /// offset `source_at`, and arrive at raw_calls::message_at.
  [[nodiscard]] virtual std::unique_ptr<detail::raw_calls> make_raw_calls(
      region& memory, std::size_t source_at) = 0;
};

}  // namespace longshore::one_sided
