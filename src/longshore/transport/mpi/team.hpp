// The mpi transport: ranks are processes. Within a node they share memory, between nodes they send
// messages.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/kept_resources.hpp>
#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/detail/row_collectives.hpp>
#include <longshore/transport/mpi/communicator.hpp>
#include <longshore/transport/mpi/node_memory.hpp>
#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/watchdog.hpp>

#include <array>
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
  /// Collective. Waits for the others, within the deadline, and frees. Without it the memory stays:
  /// requests of the library may still be active on it.
  virtual void close(team& team) = 0;
};

class team final : public longshore::team {
 public:
  /// Facts about the communicator's ranks that must be known before the base can be made.
  struct layout;

  /// Collective over `ranks`, which must outlive the team. Destroying the team is collective too.
  static std::unique_ptr<team> make(MPI_Comm ranks, const run_options& options);
  ~team() override;

  [[nodiscard]] std::string_view transport_name() const noexcept override { return "mpi"; }
  [[nodiscard]] std::string library_version() const override;
  [[nodiscard]] double now() const override { return MPI_Wtime(); }

  void barrier() override { meet({}); }
  void broadcast(std::span<std::byte> data, int root) override;
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) override;
  void alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                 std::byte* incoming, std::span<const std::size_t> incoming_counts,
                 std::size_t element_bytes) override;
  void allreduce(std::span<std::int64_t> values, reduction operation) override;
  void allreduce(std::span<double> values, reduction operation) override;
  [[nodiscard]] std::unique_ptr<longshore::segment> allocate(std::size_t bytes) override;
  [[nodiscard]] std::unique_ptr<channel_set> open_channels(std::span<const channel_end> to,
                                                           std::span<const channel_end> from,
                                                           int slots) override;
  void attend() override;

  // For the other files of this folder.

  [[nodiscard]] MPI_Comm comm() const noexcept { return ranks_.get(); }
  [[nodiscard]] MPI_Comm channel_comm() const noexcept { return channel_comm_.get(); }
  [[nodiscard]] const communicator& node() const noexcept { return node_; }
  [[nodiscard]] watchdog& dog() noexcept { return dog_; }
  /// A barrier of which all ranks must say the same.
  void meet(const detail::collective_call& call);
  /// Collective. The largest `shared_bytes` (of memory that a node shares) of any rank. Throws
  /// errc::out_of_memory, on all ranks, unless every host has that, and the largest `own_bytes`,
  /// for each of its ranks.
  [[nodiscard]] std::size_t agree_on_memory(std::size_t shared_bytes, std::size_t own_bytes);
  /// Collective. Closes a resource; a deadline that passes ends the run. With `unwinding` (an
  /// exception passes: the others may never come) it is kept instead, until all ranks make or end
  /// something together again: so an error that all threw and caught leaves nothing.
  void give_back(std::unique_ptr<shared_resource> resource, bool unwinding);
  /// Prints why this rank failed, unless another rank of the host has said its reason already, and
  /// ends all processes.
  [[noreturn]] void end_run(const std::string& why);

  /// Tags of the channels opened in one call. MPI guarantees 32767: at most 511 calls' channels are
  /// open at a time.
  static constexpr int tags_per_block = 64;
  /// Collective: the same number on all ranks.
  [[nodiscard]] int take_tag_block();
  void give_tag_block_back(int block) { tag_blocks_[block] = false; }

 private:
  team(communicator ranks, layout found, double timeout_seconds);

  // What collectives in rows ask for (row_collectives.hpp). They serve teams of one node: nothing
  // goes between nodes.
  friend class detail::row_collectives<team>;
  template <class Carry, class Before, class After>
  void meet(const detail::collective_call& call, const Carry& carry, const Before& before,
            const After& after);
  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  [[nodiscard]] std::size_t next_row() const noexcept { return ((meetings_ + 1) & 1) * row_bytes_; }
  [[nodiscard]] std::byte* reach(int peer) const {
    return rows_ + static_cast<std::size_t>(nodes().local_index(peer)) * 2 * row_bytes_;
  }
  void put_row(int, std::size_t, std::size_t) {}
  [[nodiscard]] int my_leader() const {
    return nodes().leaders()[static_cast<std::size_t>(nodes().my_node())];
  }
  [[nodiscard]] std::size_t ranks_before(int) const noexcept { return 0; }

  /// Whether `bytes` of each rank go through rows: where all share a node and they fit at once.
  [[nodiscard]] bool goes_by_rows(std::size_t bytes) const noexcept {
    return nodes().node_count() == 1 && bytes <= row_bytes_;
  }
  /// Before a call of MPI's: whether all are in it, where that is to be known: on one node, and
  /// with LONGSHORE_CHECK=1.
  void meet_before(const detail::collective_call& call) {
    if (check_calls_ || nodes().node_count() == 1) meet(call);
  }
  void check_blocks(std::span<const std::size_t> outgoing_counts,
                    std::span<const std::size_t> incoming_counts);
  template <class T>
  void allreduce_values(std::span<T> values, reduction operation, detail::collective what,
                        MPI_Datatype type);
  void meet_nodes(const detail::collective_call& call, detail::disagreement& found);
  /// Sends pair[0] and receives pair[1] in each round of a dissemination among nodes; then
  /// read(pair[0], pair[1]).
  template <class Message, class Read>
  void disseminate_messages(const detail::collective_call& call, std::array<Message, 2>& pair,
                            const Read& read);
  /// What nodes tell each other in a meeting: the call of the sender, and which two ranks differ,
  /// as far as it has heard.
  struct note {
    detail::posted_call posted;
    detail::disagreement heard;
  };
  struct node_messages {
    std::array<std::uint64_t, 2> words;
    std::array<note, 2> notes;
  };
  void close_kept();
  void complete(MPI_Request& request, const char* operation);

  communicator ranks_, channel_comm_, host_, node_;
  std::unique_ptr<node_memory> host_memory_;
  host_state* host_state_ = nullptr;
  std::optional<detail::node_barrier> barrier_;
  std::byte* rows_ = nullptr;
  std::size_t row_bytes_;
  std::uint64_t meetings_ = 0;
  // of one round; on the heap, since after a deadline MPI still has them
  std::unique_ptr<node_messages> messages_;
  bool check_calls_;
  watchdog dog_;
  std::vector<bool> tag_blocks_;
  int ranks_on_host_;
  detail::kept_resources<shared_resource> kept_;
  int unwinding_;
};

}  // namespace longshore::mpi
