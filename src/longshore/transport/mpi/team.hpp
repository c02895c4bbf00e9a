// The mpi transport: ranks are processes. Within a node they share memory, between nodes they send messages.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/kept_resources.hpp>
#include <longshore/transport/mpi/communicator.hpp>
#include <longshore/transport/mpi/node_memory.hpp>
#include <longshore/transport/node_barrier.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/watchdog.hpp>

#include <memory>
#include <optional>

namespace longshore::mpi {

class team;

/// Lies in memory that the ranks of a host share.
struct host_state {
  std::atomic<int> failure_reported;
};

/// What a team made by a collective call and frees by one.
class shared_resource {
 public:
  virtual ~shared_resource() = default;
  /// Collective. Waits for the others, within the deadline, and frees. Without it the memory stays: requests of the library may still
  /// be active on it.
  virtual void close(team& team) = 0;
};

class team final : public longshore::team {
 public:
  /// Facts about the communicator's ranks that must be known before the base can be made.
  struct layout;

  /// Collective over `ranks`, which must outlive the team. Destroying the team is collective too.
  static std::unique_ptr<team> make(MPI_Comm ranks, int ranks_per_node, double timeout_seconds, bool compact = false);
  ~team() override;

  [[nodiscard]] std::string_view transport_name() const noexcept override { return "mpi"; }
  [[nodiscard]] std::string library_version() const override;
  [[nodiscard]] double now() const override { return MPI_Wtime(); }

  void barrier() override;
  void broadcast(std::span<std::byte> data, int root) override;
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) override;
  void alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts, std::byte* incoming,
                 std::span<const std::size_t> incoming_counts, std::size_t element_bytes) override;
  void allreduce(std::span<std::int64_t> values, reduction operation) override;
  void allreduce(std::span<double> values, reduction operation) override;
  [[nodiscard]] std::unique_ptr<longshore::segment> allocate(std::size_t bytes) override;
  [[nodiscard]] std::unique_ptr<channel_set> open_channels(std::span<const channel_end> to, std::span<const channel_end> from,
                                                           int slots) override;
  void attend() override;

  // For the other files of this folder.

  [[nodiscard]] MPI_Comm comm() const noexcept { return ranks_.get(); }
  [[nodiscard]] MPI_Comm channel_comm() const noexcept { return channel_comm_.get(); }
  [[nodiscard]] const communicator& node() const noexcept { return node_; }
  [[nodiscard]] watchdog& dog() noexcept { return dog_; }
  /// A barrier whose timeout names `operation` (a literal).
  void meet(const char* operation);
  /// Collective. The largest `shared_bytes` (of memory that a node shares) of any rank. Throws errc::out_of_memory, on all ranks, unless
  /// every host has that, and the largest `own_bytes`, for each of its ranks.
  [[nodiscard]] std::size_t agree_on_memory(std::size_t shared_bytes, std::size_t own_bytes);
  /// Collective. Closes a resource; a deadline that passes ends the run. With `unwinding` (an exception passes: the others may never
  /// come) it is kept instead, until all ranks make or end something together again: so an error that all threw and caught leaves nothing.
  void give_back(std::unique_ptr<shared_resource> resource, bool unwinding);
  /// Prints why this rank failed, unless another rank of the host has said its reason already, and ends all processes.
  [[noreturn]] void end_run(const error& why);

  /// Tags of the channels opened in one call. MPI guarantees 32767: at most 511 calls' channels are open at a time.
  static constexpr int tags_per_block = 64;
  /// Collective: the same number on all ranks.
  [[nodiscard]] int take_tag_block();
  void give_tag_block_back(int block) { tag_blocks_[block] = false; }

 private:
  team(communicator ranks, layout found, double timeout_seconds);
  void barrier_between_nodes(const char* operation);
  void close_kept();
  void complete(MPI_Request& request, const char* operation);

  communicator ranks_, channel_comm_, host_, node_;
  std::unique_ptr<node_memory> host_memory_;  // host_state, then the barrier of each of its nodes
  host_state* host_state_ = nullptr;
  std::optional<node_barrier> barrier_;
  watchdog dog_;
  std::vector<bool> tag_blocks_;
  int ranks_on_host_;
  kept_resources<shared_resource> kept_;
  int unwinding_;
};

}  // namespace longshore::mpi
