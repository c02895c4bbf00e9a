// The team of the transports over a library of one-sided communication. Ranks of one node share
// memory; ranks of different nodes put and get.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/deferred_frees.hpp>
#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/detail/shared_memory_collectives.hpp>
#include <longshore/transport/detail/team_bound.hpp>
#include <longshore/transport/one_sided/detail/block_exchange.hpp>
#include <longshore/transport/one_sided/detail/library.hpp>
#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::one_sided {

using detail::call_mismatch;
using detail::collective;
using detail::collective_call;

struct control_block;

class region_owner;

class team final : public longshore::team {
 public:
  /// Collective. `lib` must outlive the team.
  static std::unique_ptr<team> make(library& lib, const run_options& options);
  ~team() override;

  std::string_view transport_name() const noexcept override { return library_.transport_name(); }
  std::string library_version() const override { return library_.version(); }
  bool is_one_process() const noexcept override { return library_.is_one_process(); }

  double now() const override {
    return costs() != nullptr ? costs()->now() : longshore::team::now();
  }

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

  [[nodiscard]] library& lib() noexcept { return library_; }
  /// A barrier that throws errc::usage if ranks pass different calls.
  void checked_barrier(const collective_call& call);
  /// Collective. Makes a region of the largest `bytes` of any rank. Throws errc::out_of_memory on
  /// all ranks if a rank does not have the memory, or not the `later_bytes` that it takes later.
  [[nodiscard]] region_owner make_region(std::size_t bytes, std::size_t later_bytes = 0);
  /// Collective. Frees a region; an exceeded deadline aborts the run. If `unwinding` (an exception
  /// is in flight), the call is local and defers the free (detail/deferred_frees.hpp).
  void release(std::unique_ptr<region> memory, bool unwinding);
  /// Prints the failure of this rank, unless another rank of the host has printed one. Then ends
  /// all processes.
  [[noreturn]] void abort_run(const std::string& failure);

 private:
  struct layout;
  team(library& lib, layout facts, const run_options& options);
  [[nodiscard]] control_block& control_of(int rank) const;
  [[nodiscard]] control_block& own_control() const;

  // The requirements of detail/shared_memory_collectives.hpp.
  friend class detail::shared_memory_collectives<team>;
  template <class SendWith, class NodeArrived, class AllArrived>
  void checked_barrier(const collective_call& call, const SendWith& send_with,
                       const NodeArrived& when_node_arrived, const AllArrived& when_all_arrived);
  [[nodiscard]] std::size_t staging_bytes() const noexcept { return staging_bytes_; }
  [[nodiscard]] std::size_t next_staging_offset() const noexcept;
  [[nodiscard]] std::byte* part_of(int peer) const { return control_->direct(peer); }
  void put_staging(int to, std::size_t offset, std::size_t bytes) {
    if (bytes > 0) control_->put_start(to, offset, control_->local() + offset, bytes);
  }
  [[nodiscard]] std::size_t ranks_before(int node) const { return node_starts_[node]; }

  template <class SendWith>
  void barrier_between_nodes(const collective_call& call, call_mismatch& mismatch,
                             const SendWith& send_with);
  /// The mismatch with rank `from`, the first rank of another node. If `from_agrees`, the calls of
  /// `from` and this rank differ; otherwise the node of `from` already knows a mismatch.
  [[nodiscard]] call_mismatch mismatch_with(int from, bool from_agrees);
  /// On one node, or with LONGSHORE_CHECK=1: a barrier that compares the calls of an alltoall.
  void barrier_if_checked(const collective_call& call);
  void free_deferred();
  void barrier_to_free();
  /// The first call is collective.
  [[nodiscard]] block_exchange& blocks();

  library& library_;
  std::unique_ptr<region> control_;
  std::optional<detail::node_barrier> barrier_;
  int ranks_on_host_;
  int host_leader_;  // the lowest rank whose memory this rank can access
  std::uint64_t barrier_count_ = 0;
  std::size_t staging_bytes_;
  bool check_calls_;
  std::vector<std::size_t> node_starts_;  // indexed by node: the number of ranks on lower nodes
  detail::deferred_frees<region> deferred_frees_;
  std::unique_ptr<block_exchange> blocks_;  // made by the first alltoall
  int unwinding_;
};

/// Owns a region. The destructor frees the region by team::release, which is collective, or
/// deferred during an exception.
class region_owner {
 public:
  region_owner(team& team, std::unique_ptr<region> memory)
      : team_(team), memory_(std::move(memory)) {}
  ~region_owner() {
    if (!memory_) return;
    if (lifetime_of_team_.reports_end("an array"))
      static_cast<void>(memory_.release());
    else
      team_.release(std::move(memory_), std::uncaught_exceptions() > unwinding_);
  }
  region_owner(region_owner&&) = default;
  region_owner& operator=(region_owner&&) = delete;

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  region& operator*() const noexcept { return *memory_; }
  region* operator->() const noexcept { return memory_.get(); }
  /// The caller becomes the owner.
  [[nodiscard]] std::unique_ptr<region> take() noexcept { return std::move(memory_); }

 private:
  team& team_;
  detail::team_watch lifetime_of_team_{team_};
  std::unique_ptr<region> memory_;
  int unwinding_ = std::uncaught_exceptions();
};

/// Collective. Runs `body` with a team over `lib`. After an exception run() does not return: all
/// processes end, with exit status 3 and one message per host.
void run(library& lib, const run_options& options,
         const std::function<void(longshore::team&)>& body);

}  // namespace longshore::one_sided
