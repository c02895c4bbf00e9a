// The mpi transport: ranks are processes. Ranks of one node share memory; ranks of different nodes
// exchange MPI messages.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/deferred_frees.hpp>
#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/detail/shared_memory_collectives.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/detail/watchdog.hpp>
#include <longshore/transport/mpi/detail/channel_memory.hpp>
#include <longshore/transport/mpi/detail/communicator.hpp>
#include <longshore/transport/mpi/detail/eager_limit.hpp>
#include <longshore/transport/mpi/detail/node_memory.hpp>
#include <longshore/transport/mpi/lifetime.hpp>
#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace longshore::mpi {

using detail::call_mismatch;
using detail::collective;
using detail::collective_call;

class team;

/// The least size of a staging buffer (host_layout).
inline constexpr std::size_t min_staging_bytes = 4096;

/// State in memory that the ranks of a host share.
struct host_state {
  std::atomic<int> failure_reported;
};

/// Memory and MPI objects that a team makes and frees by collective calls.
class collective_resource {
 public:
  virtual ~collective_resource() = default;
  /// Collective. Waits for the other ranks, within the deadline, and frees the resource. Without
  /// this call the destructor leaks the memory, because MPI requests may still use it.
  virtual void close(team& team) = 0;
};

class team final : public longshore::team {
 public:
  /// Facts about the ranks of the communicator, which the constructor of the base class needs.
  struct layout;

  /// Collective over `ranks`. Destroying the team is also collective.
  static std::unique_ptr<team> make(MPI_Comm ranks, const run_options& options);
  ~team() override;

  std::string_view transport_name() const noexcept override { return "mpi"; }
  std::string library_version() const override;
  bool library_takes_device_memory(std::string_view driver) const override;
  double now() const override { return MPI_Wtime(); }

  void barrier() override { checked_barrier({}); }
  void broadcast(std::span<std::byte> data, int root) override;
  void allgather(std::span<const std::byte> data, std::span<std::byte> gathered) override;
  void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) override;
  void alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                 std::byte* incoming, std::span<const std::size_t> incoming_counts,
                 std::size_t element_bytes) override;
  void allreduce(std::span<std::int64_t> values, reduction operation) override;
  void allreduce(std::span<double> values, reduction operation) override;
  void reduce(std::span<std::int64_t> values, reduction operation, int root) override;
  void reduce(std::span<double> values, reduction operation, int root) override;
  std::unique_ptr<longshore::segment> allocate(std::size_t bytes) override;
  std::unique_ptr<channel_set> open_channels(std::span<const channel_end> to,
                                             std::span<const channel_end> from, int slots) override;
  void progress() override;

  // Functions for the other files of this folder.

  [[nodiscard]] MPI_Comm comm() const noexcept { return ranks_.get(); }
  [[nodiscard]] MPI_Comm channel_comm() const noexcept { return channel_comm_.get(); }
  [[nodiscard]] const communicator& node_comm() const noexcept { return node_; }
  /// The ranks of this host that share memory, in rank order.
  [[nodiscard]] const communicator& host_comm() const noexcept { return host_; }
  [[nodiscard]] channel_memory& memory_of_channels() noexcept { return channel_memory_; }
  [[nodiscard]] longshore::watchdog& watchdog() noexcept { return watchdog_; }
  /// A barrier that throws errc::usage if ranks pass different calls.
  void checked_barrier(const collective_call& call);
  /// Collective. An allreduce, which messages about ranks in different calls name by its purpose.
  void allreduce(std::span<std::int64_t> values, reduction operation, collective kind);
  /// Collective. Returns the largest `shared_bytes` (memory that the ranks of `sharing` share) of
  /// any rank. Throws errc::out_of_memory on all ranks unless each rank of every host can have this
  /// number of shared bytes and the largest `own_bytes` of any rank.
  [[nodiscard]] std::size_t agree_on_memory(const communicator& sharing, std::size_t shared_bytes,
                                            std::size_t own_bytes);
  /// The bytes of shared memory that the host has for each of its ranks.
  [[nodiscard]] std::size_t free_shared_bytes() const;
  /// Collective. Closes and frees a resource; an exceeded deadline aborts the run. If `unwinding`
  /// (an exception is in flight), the call is local and defers the free
  /// (detail/deferred_frees.hpp).
  void release(std::unique_ptr<collective_resource> resource, bool unwinding);
  /// Prints the failure of this rank, unless another rank of the host has printed one.
  void report_failure(std::string_view failure) const;
  /// Reports the failure and ends all processes.
  [[noreturn]] void abort_run(const std::string& failure);

  /// The longest message to or from `peer` that MPI sends at once; 0 if that is not known. Messages
  /// to ranks of this host travel only between virtual nodes, or without shared memory.
  [[nodiscard]] std::size_t eager_bytes_to(int peer) const noexcept {
    return nodes().is_on_host(peer) ? host_eager_bytes_ : eager_bytes_between_hosts;
  }
  /// Number of tags of a channel set. MPI guarantees tags up to 32767, so at most 511 sets can be
  /// open.
  static constexpr int tags_per_block = 64;
  /// Collective. Returns the same number on all ranks.
  [[nodiscard]] int take_tag_block();
  void release_tag_block(int block) { tag_blocks_[block] = false; }
  /// Local, but all ranks make these calls in the same order. Returns a tag for messages of a plan
  /// on comm(). Tags repeat after some 32,000 calls. Two objects with the same tag must send their
  /// messages in the same order on all ranks.
  [[nodiscard]] int take_message_tag();
  /// Like take_message_tag(), but no other call gets the tag before it is released. For objects that
  /// receive between their exchanges.
  [[nodiscard]] int hold_message_tag();
  void release_message_tag(int tag) { held_tags_.erase(tag); }

 private:
  team(communicator ranks, layout facts, double timeout_seconds);

  // The requirements of detail/shared_memory_collectives.hpp, which is used only on teams of one
  // node. So nothing is sent between nodes. alltoall_by_node() uses the staging buffers, too.
  friend class detail::shared_memory_collectives<team>;
  template <class SendWith, class NodeArrived, class AllArrived>
  void checked_barrier(const collective_call& call, const SendWith& send_with,
                       const NodeArrived& when_node_arrived, const AllArrived& when_all_arrived);
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return staging_bytes_; }
  [[nodiscard]] std::size_t next_staging_offset() const noexcept {
    return ((barrier_count_ + 1) & 1) * staging_bytes_;
  }
  [[nodiscard]] std::byte* part_of(int peer) const {
    return staging_ + nodes().local_index(peer) * 2 * staging_bytes_;
  }
  void put_staging(int, std::size_t, std::size_t) {}
  [[nodiscard]] std::size_t ranks_before(int) const noexcept { return 0; }

  /// Whether a collective of `bytes` per rank uses staging buffers: all ranks share a node, and the
  /// bytes fit in one piece.
  [[nodiscard]] bool fits_staging(std::size_t bytes) const noexcept {
    return nodes().node_count() == 1 && bytes <= staging_bytes_;
  }
  /// On one node, or with LONGSHORE_CHECK=1: a barrier that compares the calls of a collective.
  void barrier_if_checked(const collective_call& call) {
    if (check_calls_ || nodes().node_count() == 1) checked_barrier(call);
  }
  /// Whether the first ranks of nodes exchange the blocks of an alltoall. They do if some node has
  /// several ranks, and the `bytes` per rank fit in the staging buffers of every host. With many
  /// nodes they do not, because MPI's algorithms need fewer messages than one to each node.
  [[nodiscard]] bool goes_by_node(std::size_t bytes) const noexcept {
    constexpr int max_nodes = 32;
    return nodes().node_count() > 1 && nodes().node_count() <= max_nodes &&
           nodes().largest_node() > 1 && bytes <= min_staging_bytes;
  }
  void alltoall_by_node(const collective_call& call, std::span<const std::byte> outgoing,
                        std::span<std::byte> incoming);
  void exchange_between_nodes(std::size_t block_bytes, std::size_t staging_offset);
  void check_blocks(std::span<const std::size_t> outgoing_counts,
                    std::span<const std::size_t> incoming_counts);
  template <class T>
  void allreduce_values(std::span<T> values, reduction operation, detail::collective kind,
                        MPI_Datatype type);
  template <class T>
  void reduce_values(std::span<T> values, const collective_call& call, MPI_Datatype type);
  void barrier_between_nodes(const collective_call& call, call_mismatch& mismatch);
  /// Makes a dissemination among nodes. Each round sends pair[0], receives pair[1], and calls
  /// update(pair[0], pair[1]).
  template <class Message, class Update>
  void disseminate_messages(const collective_call& call, std::array<Message, 2>& pair,
                            const Update& update);
  /// A message of the second dissemination: the sender's call, and the mismatch that the sender
  /// knows.
  struct call_message {
    detail::posted_call posted;
    call_mismatch mismatch;
  };
  struct node_messages {
    std::array<std::uint64_t, 2> fingerprints;
    std::array<call_message, 2> calls;
  };
  /// The messages of alltoall_by_node().
  struct block_messages {
    std::vector<std::byte> outgoing, incoming;
    std::vector<MPI_Request> sent, received;
  };
  void free_deferred();
  void complete(MPI_Request& request, const char* operation);

  communicator ranks_, channel_comm_, host_, node_;
  std::unique_ptr<node_memory> host_memory_;
  channel_memory channel_memory_;
  host_state* host_state_ = nullptr;
  std::optional<detail::node_barrier> barrier_;
  std::byte* staging_ = nullptr;
  std::size_t staging_bytes_;
  std::uint64_t barrier_count_ = 0;
  // On the heap, because MPI may still use the messages after a timeout.
  std::unique_ptr<node_messages> messages_;  // of one round
  std::unique_ptr<block_messages> block_messages_;
  bool check_calls_;
  longshore::watchdog watchdog_;
  std::size_t host_eager_bytes_;
  std::vector<bool> tag_blocks_;
  int message_tags_taken_ = 0;
  std::set<int> held_tags_;
  int ranks_on_host_;
  detail::deferred_frees<collective_resource> deferred_frees_;
  int unwinding_;
  open_team open_{*this};
};

}  // namespace longshore::mpi
