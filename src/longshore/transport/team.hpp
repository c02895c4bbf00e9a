// A team: the ranks of a run, as one rank sees them. The layers above move data only through teams
// and the segments and channels that teams make.
#pragma once

#include <longshore/core/bytes.hpp>
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
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace longshore {

class team;
class waiter;

namespace detail {
class cost_sink;  // cost_sink.hpp
struct copied_cells;
[[noreturn]] void throw_for_narrow_sum(std::int64_t sum, std::size_t bits);
}  // namespace detail

/// How a transport waits. Set once, when a run starts.
struct wait_policy {
  double timeout_seconds;  ///< deadline of every wait; 0 means no deadline
  /// False if there are more ranks than cores: waits then yield the core at once.
  bool spin;
};

/// One rank's view of a run. Only the thread that runs the rank may make calls. All ranks must make
/// the collective calls in the same order.
///
/// Errors: a wait that exceeds the deadline throws errc::timeout; the message names rank, peer and
/// operation. Waits throw errc::peer_failed when another rank has failed. If ranks make different
/// collective calls, or pass different sizes, roots or operations, all ranks throw errc::usage; the
/// message names two ranks and their calls. If the counts of an alltoallv differ between sender and
/// receiver, the receiver throws errc::usage. After any of these errors the team can only be
/// destroyed.
///
/// Ranks always compare their calls in barriers, in allocations and frees, and at the end of a
/// team. On threads, and on a team of one node, ranks compare every collective call. On shmem and
/// ucx, ranks compare all calls except alltoall and alltoallv between nodes. These comparisons cost
/// nothing measurable. With LONGSHORE_CHECK=1 (run_options::check_calls) ranks compare all calls.
class team {
 public:
  virtual ~team();
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] const node_map& nodes() const noexcept { return nodes_; }
  [[nodiscard]] const wait_policy& waiting() const noexcept { return waiting_; }
  /// The CPUs that this rank should use: a share of the CPUs that the ranks of the host may use.
  /// Ranks share CPUs if there are more ranks than CPUs. Never empty.
  [[nodiscard]] std::span<const int> cpus() const noexcept;

  /// The name of the transport as users type it: "threads", "mpi", "shmem", "ucx" ...
  [[nodiscard]] virtual std::string_view transport_name() const noexcept = 0;
  /// The underlying library and its version; empty if there is no library.
  [[nodiscard]] virtual std::string library_version() const = 0;
  /// Whether the underlying library sends and receives memory of devices (GPUs), if it gets their
  /// addresses. `driver` is the library of the devices: "cuda" or "hip".
  [[nodiscard]] virtual bool library_takes_device_memory(
      [[maybe_unused]] std::string_view driver) const {
    return false;
  }
  /// Seconds on the transport's clock. Clocks of different ranks cannot be compared.
  [[nodiscard]] virtual double now() const;

  /// Seconds that this rank has spent in waits for other ranks: in barriers, collectives, channels
  /// and all other waits that use a waiter. Waits shorter than about two microseconds and waits
  /// inside blocking calls of the underlying library are not counted.
  [[nodiscard]] double waited_seconds() const noexcept { return waited_seconds_; }

  /// Collective. Returns when every rank has arrived. Stores that any rank made before its call are
  /// then visible to all ranks. O(log nodes) messages.
  virtual void barrier() = 0;
  /// Collective. Copies `data` of rank `root` into `data` of all ranks. The size must be the same
  /// on all ranks.
  virtual void broadcast(std::span<std::byte> data, int root) = 0;
  /// Collective. Copies `data` of rank r to gathered[r * data.size()].
  virtual void allgather(std::span<const std::byte> data, std::span<std::byte> gathered) = 0;
  /// Collective. Block r of `outgoing` goes to rank r; block r of `incoming` comes from rank r.
  /// `outgoing` and `incoming` hold size() blocks of equal length.
  virtual void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) = 0;
  /// Collective. Like alltoall, with blocks of any length: outgoing_counts[r] elements go to rank
  /// r, and incoming_counts[r] elements come from rank r. Blocks are packed in rank order. On mpi a
  /// rank can send and receive at most 2^31 - 1 elements.
  virtual void alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                         std::byte* incoming, std::span<const std::size_t> incoming_counts,
                         std::size_t element_bytes) = 0;
  /// Collective. Reduces element by element over the ranks, in place. The result is the same on all
  /// ranks. Sums of integers wrap around, as in MPI; those of sum_exactly() (exact_sum.hpp) do not.
  ///
  /// The order in which floating-point numbers are added decides their rounding. On threads it is
  /// the order of ranks. On shmem and ucx, the ranks of each node are added in their order, and then
  /// the nodes in theirs. So these sums have the same bits in every run on the same nodes. On mpi
  /// the order is that of ranks if all ranks share a node and pass up to 256 values; otherwise
  /// MPI_Iallreduce chooses the order, which may differ between runs.
  virtual void allreduce(std::span<std::int64_t> values, reduction operation) = 0;
  virtual void allreduce(std::span<double> values, reduction operation) = 0;
  /// Collective. Like allreduce, but only rank `root` gets the result. The values of the other ranks
  /// do not change. Ranks are combined one after another in their order: ((v0 + v1) + v2) + ... So a
  /// floating-point sum has the same bits on all transports, all nodes, and in all runs.
  ///
  /// Cost: the root reads or receives the values of all ranks. On mpi this is an MPI_Igather of
  /// each piece of up to 16 MiB, or a barrier if all ranks share a node and their values fit 4 KiB.
  /// On shmem and ucx the values travel in pieces: 64 bytes of each rank, or more if there are few
  /// ranks. Each piece costs one barrier, whose messages carry the values to all nodes.
  virtual void reduce(std::span<std::int64_t> values, reduction operation, int root) = 0;
  virtual void reduce(std::span<double> values, reduction operation, int root) = 0;

  /// Collective. A segment of `bytes` bytes on each rank. Throws errc::usage if the ranks pass
  /// different numbers. Throws errc::out_of_memory on all ranks if a node does not have the memory
  /// for all of its ranks.
  [[nodiscard]] virtual std::unique_ptr<segment> allocate(std::size_t bytes) = 0;

  /// Collective. Opens a channel to each rank in `to` and from each rank in `from`. A channel has
  /// `slots` slots, unless its ends have a number of their own (channel_end::slots). If rank a
  /// lists several channels to rank b, the k-th of these connects to the k-th channel from a that b
  /// lists. Both ends of a channel must have the same slot_bytes.
  [[nodiscard]] virtual std::unique_ptr<channel_set> open_channels(
      std::span<const channel_end> to, std::span<const channel_end> from, int slots) = 0;

  /// Lets the underlying library make progress. Throws errc::peer_failed when another rank has
  /// failed. Waits call this function; a loop that polls memory must call it now and then.
  virtual void progress() = 0;

  /// Local. This rank's attribute of type `Attribute`: state of an upper layer, which lives as long as
  /// the team, like an attribute of an MPI communicator. One object per type, made by the first call.
  /// Its destructor must not make collective calls.
  template <std::default_initializable Attribute>
  [[nodiscard]] Attribute& attribute() {
    void* found = find_attribute(typeid(Attribute));
    if (found == nullptr) found = add_attribute(typeid(Attribute), std::make_shared<Attribute>());
    return *static_cast<Attribute*>(found);
  }

  /// Expires when the team is destroyed.
  [[nodiscard]] std::weak_ptr<const void> lifetime() const noexcept;

  /// The sink for the costs of this rank's work if time is computed (transport simulated). The
  /// clock then advances by these charges and by messages, without noise. Null if time is measured.
  [[nodiscard]] detail::cost_sink* costs() const noexcept { return costs_; }
  /// This rank has done `amount` units of a kind of work, which its layer names. Call this once per
  /// batch, not per element.
  void charge(std::string_view work, std::size_t amount) {
    if (costs_ != nullptr) [[unlikely]]
      add_work(work, amount);
  }
  /// This rank has copied `bytes` bytes within its memory, or from or to memory of `peer`, if that
  /// is a rank of this node.
  void charge_copy(int peer, std::size_t bytes) {
    if (costs_ != nullptr) [[unlikely]]
      add_copy(peer, bytes);
  }
  void charge_copy(int peer, const detail::copied_cells& copied);
  /// This rank has done work of known duration.
  void charge_seconds(double seconds);
  /// Whether all ranks are in this process, and can use each other's addresses.
  [[nodiscard]] virtual bool is_one_process() const noexcept { return false; }

  // The same collectives for values. A sum that does not fit a T of up to 32 bits throws
  // errc::usage on all ranks.

  template <trivially_copyable T>
  [[nodiscard]] T broadcast_value(T value, int root = 0) {
    broadcast(bytes_of(value), root);
    return value;
  }
  /// Element r of the result is the value of rank r.
  template <trivially_copyable T>
  [[nodiscard]] std::vector<T> allgather_value(const T& value) {
    std::vector<T> values(size_);
    allgather(bytes_of(value), std::as_writable_bytes(std::span<T>(values)));
    return values;
  }
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  [[nodiscard]] T allreduce_value(T value, reduction operation) {
    if constexpr (std::integral<T>) {
      auto wide = static_cast<std::int64_t>(value);
      allreduce(std::span<std::int64_t>(&wide, 1), operation);
      if constexpr (sizeof(T) < sizeof(std::int64_t))
        if (!std::in_range<T>(wide)) detail::throw_for_narrow_sum(wide, 8 * sizeof(T));
      return static_cast<T>(wide);
    } else {
      auto wide = static_cast<double>(value);
      allreduce(std::span<double>(&wide, 1), operation);
      return static_cast<T>(wide);
    }
  }
  /// Returns the result on rank `root`, and `value` on the other ranks. A sum of integers of up to
  /// 32 bits also costs a broadcast, by which all ranks learn whether it fits.
  template <class T>
  requires std::integral<T> || std::floating_point<T>
  [[nodiscard]] T reduce_value(T value, reduction operation, int root) {
    using wide_type = std::conditional_t<std::integral<T>, std::int64_t, double>;
    auto wide = static_cast<wide_type>(value);
    reduce(std::span<wide_type>(&wide, 1), operation, root);
    if constexpr (std::integral<T> && sizeof(T) < sizeof(std::int64_t))
      if (operation == reduction::sum) {
        const auto sum = broadcast_value(wide, root);
        if (!std::in_range<T>(sum)) detail::throw_for_narrow_sum(sum, 8 * sizeof(T));
      }
    return rank_ == root ? static_cast<T>(wide) : value;
  }

 protected:
  team(int rank, int size, node_map nodes, wait_policy waiting, std::vector<int> cpus,
       detail::cost_sink* costs = nullptr);

 private:
  void add_work(std::string_view work, std::size_t amount);
  void add_copy(int peer, std::size_t bytes);

  int rank_, size_;
  node_map nodes_;
  wait_policy waiting_;
  std::vector<int> cpus_;
  detail::cost_sink* costs_;
  double waited_seconds_ = 0;
  std::shared_ptr<const void> lifetime_;
  friend class waiter;

  [[nodiscard]] void* find_attribute(const std::type_info& type) const noexcept;
  void* add_attribute(const std::type_info& type, std::shared_ptr<void> object);
  struct kept_attribute {
    const std::type_info* type;
    std::shared_ptr<void> object;
  };
  std::vector<kept_attribute> attributes_;
};

}  // namespace longshore
