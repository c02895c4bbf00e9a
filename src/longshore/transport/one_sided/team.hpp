// The team of the transports shmem and ucx: ranks are processes, connected by a library of
// one-sided communication. Ranks of a node share memory; between nodes they put and get.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/deferred_frees.hpp>
#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/detail/shared_memory_collectives.hpp>
#include <longshore/transport/one_sided/block_exchange.hpp>
#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/one_sided/signal_channels.hpp>
#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::one_sided {

struct control_block;

class region_handle;

class team final : public longshore::team {
 public:
  /// Collective. `lib` must outlive the team.
  static std::unique_ptr<team> make(library& lib, const run_options& options);
  ~team() override;

  [[nodiscard]] std::string_view transport_name() const noexcept override {
    return library_.transport_name();
  }
  [[nodiscard]] std::string library_version() const override { return library_.version(); }

  void barrier() override { checked_barrier({}); }
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
  void progress() override;

  // For the other files of this folder.

  [[nodiscard]] library& lib() noexcept { return library_; }
  [[nodiscard]] deferred_credits& credits() noexcept { return deferred_credits_; }
  /// A barrier that throws errc::usage unless all ranks pass the same call.
  void checked_barrier(const detail::collective_call& call);
  /// Collective. A region of the largest `bytes` of any rank. Throws errc::out_of_memory, on all
  /// ranks, if one does not have the memory.
  [[nodiscard]] region_handle make_region(std::size_t bytes);
  /// Collective. Frees a region; an exceeded deadline aborts the run. Local if `unwinding` (an
  /// exception is in flight): the free is then deferred (detail/deferred_frees.hpp).
  void release(std::unique_ptr<region> memory, bool unwinding);
  /// Prints why this rank failed, unless another rank of the host has already printed its reason.
  /// Then ends all processes.
  [[noreturn]] void abort_run(const std::string& why);

 private:
  struct layout;
  team(library& lib, layout found, const run_options& options);
  [[nodiscard]] control_block& control_of(int rank) const;
  [[nodiscard]] control_block& mine() const;
  [[nodiscard]] int my_leader() const {
    return nodes().leaders()[static_cast<std::size_t>(nodes().my_node())];
  }

  // The requirements of detail/shared_memory_collectives.hpp.
  friend class detail::shared_memory_collectives<team>;
  template <class SendWith, class NodeArrived, class AllArrived>
  void checked_barrier(const detail::collective_call& call, const SendWith& send_with,
                       const NodeArrived& when_node_arrived, const AllArrived& when_all_arrived);
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return staging_bytes_; }
  [[nodiscard]] std::size_t next_staging_offset() const noexcept;
  [[nodiscard]] std::byte* part_of(int peer) const { return control_->direct(peer); }
  void put_staging(int to, std::size_t offset, std::size_t bytes) {
    if (bytes > 0) control_->put_start(to, offset, control_->local() + offset, bytes);
  }
  [[nodiscard]] std::size_t ranks_before(int node) const {
    return node_starts_[static_cast<std::size_t>(node)];
  }

  template <class SendWith>
  void barrier_between_nodes(const detail::collective_call& call, detail::call_mismatch& mismatch,
                             const SendWith& send_with);
  /// The mismatch with rank `from`, the first of another node: between its call and this rank's, or
  /// the one that its node already knows.
  [[nodiscard]] detail::call_mismatch mismatch_with(int from, bool from_agrees);
  /// A checked barrier if calls without a barrier are to be compared: on one node, and with
  /// LONGSHORE_CHECK=1.
  void barrier_if_checked(const detail::collective_call& call);
  void free_deferred();
  void barrier_to_free();
  /// The first call is collective.
  [[nodiscard]] block_exchange& blocks();

  library& library_;
  std::unique_ptr<region> control_;
  std::optional<detail::node_barrier> barrier_;
  int ranks_on_host_;
  int host_leader_;  // the first rank of this host
  std::uint64_t barrier_count_ = 0;
  std::size_t staging_bytes_;
  bool check_calls_;
  std::vector<std::size_t> node_starts_;  // by node: the number of ranks on lower nodes
  deferred_credits deferred_credits_;
  detail::deferred_frees<region> deferred_frees_;
  std::unique_ptr<block_exchange> blocks_;  // for alltoall; made on first use
  int unwinding_;
};

/// The owner of a region. Its destructor passes the region to team::release.
class region_handle {
 public:
  region_handle(team& team, std::unique_ptr<region> memory)
      : team_(team), memory_(std::move(memory)) {}
  ~region_handle() {
    if (memory_) team_.release(std::move(memory_), std::uncaught_exceptions() > unwinding_);
  }
  region_handle(region_handle&&) = default;
  region_handle& operator=(region_handle&&) = delete;

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  region& operator*() const noexcept { return *memory_; }
  region* operator->() const noexcept { return memory_.get(); }
  /// The caller becomes the owner.
  [[nodiscard]] std::unique_ptr<region> take() noexcept { return std::move(memory_); }

 private:
  team& team_;
  std::unique_ptr<region> memory_;
  int unwinding_ = std::uncaught_exceptions();
};

/// Collective. Runs `body` with a team over `lib`. An exception ends all processes, with exit
/// status 3 and one message per host; run() then does not return.
void run(library& lib, const run_options& options,
         const std::function<void(longshore::team&)>& body);

}  // namespace longshore::one_sided
