// A team: the ranks of a run, as one of them sees it. Everything above this layer moves data
// through this interface only.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/clock.hpp>
#include <longshore/transport/channel.hpp>
#include <longshore/transport/node_map.hpp>
#include <longshore/transport/reduction.hpp>
#include <longshore/transport/segment.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace longshore {

class waiter;

/// How a transport waits, decided once at start.
struct wait_policy {
  double timeout_seconds = 300;  ///< deadline of every wait; 0: none
  /// false where ranks outnumber cores: then a wait gives its core away at once
  bool spin = true;
};

/// One rank's view of a run. All calls are for the one thread that runs the rank; those named
/// collective must be made by all ranks in the same order. A wait that passes the deadline throws
/// errc::timeout, with rank, peer and operation; when another rank has failed, waits throw
/// errc::peer_failed. Ranks that are not in the same collective call, or not with the same sizes,
/// root and operation, throw errc::usage, which names two of them and what each calls (counts of an
/// alltoallv: on the ranks that expect another count than is sent). After any of these the team can
/// only be left.
///
/// Ranks compare their calls where that costs nothing that can be measured: always in barriers,
/// when something is made or freed and at the end of a team; in every collective call on threads,
/// on a team of one node, and on shmem and ucx but for alltoall and alltoallv between nodes. With
/// LONGSHORE_CHECK=1 (run_options::check_calls) they compare all calls.
class team {
 public:
  virtual ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const node_map& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const wait_policy& waiting() const noexcept { return waiting_; }
  /// CPUs that are this rank's to use: its share of those that the ranks of the host may use.
  /// Shared with others where ranks outnumber CPUs. Never empty.
  [[nodiscard]] std::span<const int> cpus() const noexcept { return cpus_; }

  /// Name as users type it ("threads", "mpi", ...), and the library underneath with its version (""
  /// when there is none).
  [[nodiscard]] virtual std::string_view transport_name() const noexcept = 0;
  [[nodiscard]] virtual std::string library_version() const = 0;
  /// Seconds on the transport's clock. Differences are meaningful on one rank only.
  [[nodiscard]] virtual double now() const { return monotonic_seconds(); }

  /// Seconds that this rank has waited for others so far, in barriers, collectives, channels and
  /// whatever else waits through a waiter. Waits of less than some two microseconds are not in it,
  /// nor those inside blocking calls of the library underneath.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_seconds_; }

  /// Collective. Returns when every rank has called it, and what they stored before is visible.
  /// O(log nodes) messages.
  virtual void barrier() = 0;
  /// Collective. Copies `data` of rank `root` into `data` of all; the same size on all ranks.
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Collective. all[r * mine.size() ...] = mine of rank r.
  virtual void allgather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Collective. Block r of `outgoing` goes to rank r; block r of `incoming` comes from rank r.
  /// Both hold size() equal blocks.
  virtual void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) = 0;
  /// Collective. As alltoall, with outgoing_counts[r] elements to rank r and incoming_counts[r]
  /// from it, packed in rank order. At most 2^31 - 1 elements per rank in each direction on mpi.
  virtual void alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                         std::byte* incoming, std::span<const std::size_t> incoming_counts,
                         std::size_t element_bytes) = 0;
  /// Collective. Element by element over the ranks, in place; the result is the same on all ranks.
  virtual void allreduce(std::span<std::int64_t> values, reduction operation) = 0;
  virtual void allreduce(std::span<double> values, reduction operation) = 0;

  /// Collective. A segment of `bytes` bytes on each rank: the same number on all, else errc::usage.
  /// Throws errc::out_of_memory, on all ranks, when the node does not have bytes x ranks of the
  /// node.
  [[nodiscard]] virtual std::unique_ptr<segment> allocate(std::size_t bytes) = 0;

  /// Collective. Opens a channel to each of `to` and from each of `from`, with `slots` messages in
  /// flight per channel. The k-th end towards rank b that rank a names is joined with the k-th end
  /// from a that b names; their slot_bytes must be equal.
  [[nodiscard]] virtual std::unique_ptr<channel_set> open_channels(
      std::span<const channel_end> to, std::span<const channel_end> from, int slots) = 0;

  /// Called by waits now and then: lets the library underneath make progress, throws
  /// errc::peer_failed when another rank failed.
  virtual void attend() = 0;

  /// What an upper layer finds out once and keeps on this rank for the rest of the run: one object
  /// per type, made when first asked for, destroyed with the team (so it holds nothing whose
  /// destruction is collective). Local.
  template <std::default_initializable Kept>
  [[nodiscard]] Kept& kept() {
    void* found = find_kept(typeid(Kept));
    if (found == nullptr) found = keep(typeid(Kept), std::make_shared<Kept>());
    return *static_cast<Kept*>(found);
  }

  // The same calls for values rather than bytes.

  template <trivially_copyable T>
  [[nodiscard]] T broadcast_value(T value, int root = 0) {
    broadcast(bytes_of(value), root);
    return value;
  }
  /// Element r is the value of rank r.
  template <trivially_copyable T>
  [[nodiscard]] std::vector<T> allgather_value(const T& value) {
    std::vector<T> all(static_cast<std::size_t>(size_));
    allgather(bytes_of(value), std::as_writable_bytes(std::span<T>(all)));
    return all;
  }
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  [[nodiscard]] T allreduce_value(T value, reduction operation) {
    if constexpr (std::integral<T>) {
      auto wide = static_cast<std::int64_t>(value);
      allreduce(std::span<std::int64_t>(&wide, 1), operation);
      return static_cast<T>(wide);
    } else {
      auto wide = static_cast<double>(value);
      allreduce(std::span<double>(&wide, 1), operation);
      return static_cast<T>(wide);
    }
  }

 protected:
  team(int rank, int size, node_map nodes, wait_policy waiting, std::vector<int> cpus);

 private:
  int rank_, size_;
  node_map nodes_;
  wait_policy waiting_;
  std::vector<int> cpus_;
  double waited_seconds_ = 0;
  friend class waiter;
  [[nodiscard]] void* find_kept(const std::type_info& type) const noexcept;
  void* keep(const std::type_info& type, std::shared_ptr<void> object);

  struct kept_object {
    const std::type_info* type;
    std::shared_ptr<void> object;
  };
  std::vector<kept_object> kept_;
};

}  // namespace longshore
