// What a library of one-sided communication must offer, for a transport to stand on it: memory of
// which every rank has a part, puts, gets and atomics on the parts of others, and an order between
// puts. All else (segments, channels, collectives, barriers, deadlines) is the same for all such
// libraries, and stands beside this file.
#pragma once

#include <longshore/transport/channel.hpp>
#include <longshore/transport/raw_calls.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::one_sided {

/// The same on all ranks of a host, and hardly on two hosts.
[[nodiscard]] std::uint64_t host_hash();

/// One piece of memory on each rank, of the same size, zero at first. The library's memory, which
/// others reach without this rank's help where the hardware allows. Making and freeing it are
/// collective, and the library waits for the others in both: a team meets them first.
class region {
 public:
  virtual ~region() = default;
  region(const region&) = delete;
  region& operator=(const region&) = delete;

  /// This rank's part, aligned to a page.
  [[nodiscard]] std::byte* local() const noexcept { return local_; }
  /// The part of a peer, when this process can load and store there, else null. The own part always
  /// can be reached.
  [[nodiscard]] virtual std::byte* reach(int peer) = 0;

  /// Complete on return of library::quiet(): until then the source must not be written, nor the
  /// destination be used.
  virtual void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  virtual void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  /// The source can be used again on return.
  virtual void put(int peer, std::size_t offset, const void* from, std::size_t bytes) = 0;
  /// Complete on return.
  virtual void get(int peer, std::size_t offset, void* to, std::size_t bytes) = 0;
  virtual std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) = 0;

  /// As put_start, and when all of it is there the 8 bytes at `signal_offset` become what `signal`
  /// has: who sees them sees the data, and what this rank has put there before. Both sources must
  /// lie in regions, and stay as they are. `bytes` may be 0.
  virtual void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                               std::size_t signal_offset, const std::uint64_t* signal) = 0;

 protected:
  explicit region(std::byte* local) : local_(local) {}
  void set_local(std::byte* local) noexcept { local_ = local; }

 private:
  std::byte* local_;
};

/// Ends of channels that a library carries by messages of its own. Each has a number, by which the
/// other end is told of it.
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

/// Memory of the slots of one end, which outlives it: slot i begins i * stride_bytes behind
/// `begin`.
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
  /// As users type the transport ("shmem", "ucx"), and what stands underneath with its version.
  [[nodiscard]] virtual std::string_view transport_name() const noexcept = 0;
  [[nodiscard]] virtual std::string version() const = 0;

  /// Collective. Null, on every rank that lacks room, where there is no room for it. Others' parts
  /// can be used once all have been heard of since.
  [[nodiscard]] virtual std::unique_ptr<region> allocate(std::size_t bytes) = 0;
  /// Bytes that each of the `ranks` ranks of this host can still get; the largest number where none
  /// gets less than the others.
  [[nodiscard]] virtual std::size_t available_bytes(int ranks) const = 0;
  /// What can be had at most, and how a user gets more ("start with LONGSHORE_HEAP=..."), for
  /// messages.
  [[nodiscard]] virtual std::string room() const = 0;
  /// Collective; waits for the others without a deadline. One number of each rank. For the start
  /// only.
  [[nodiscard]] virtual std::vector<std::uint64_t> gather(std::uint64_t mine) = 0;

  /// Whether channels with `peer` are better carried by messages of the library than by puts: where
  /// puts need the peer's CPU. Both ends say the same.
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

  /// Whether messages that the library carries are on their way from or into regions, which then
  /// must stay.
  [[nodiscard]] virtual bool is_sending() const { return false; }
  [[nodiscard]] virtual bool is_receiving() const { return false; }

  /// Returns when all that this rank has started, on any region, is complete, also at its targets.
  virtual void quiet() = 0;
  /// Lets what others do to this rank's memory, and what it has started, go on where the library
  /// needs a CPU for that. Cheap.
  virtual void progress() = 0;
  /// Ends all processes.
  virtual void end_all(int status) = 0;
  /// The library's own calls on a region, which must outlive them: messages are built at
  /// `source_at`, and arrive at raw_calls::message_at.
  [[nodiscard]] virtual std::unique_ptr<raw_calls> make_raw_calls(region& memory,
                                                                  std::size_t source_at) = 0;
};

}  // namespace longshore::one_sided
