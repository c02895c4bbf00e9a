// Ranks that are processes and reach each other by a library of one-sided communication. Within a
// node they share memory, between nodes they put and get.
#pragma once

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/kept_resources.hpp>
#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/detail/row_collectives.hpp>
#include <longshore/transport/one_sided/block_streams.hpp>
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

/// Where things lie in the control region of each rank; zero is the initial state of all.
struct control_block;

class lent_region;

class team final : public longshore::team {
 public:
  /// Collective. `lib` must outlive the team.
  static std::unique_ptr<team> make(library& lib, const run_options& options);
  ~team() override;

  [[nodiscard]] std::string_view transport_name() const noexcept override {
    return library_.transport_name();
  }
  [[nodiscard]] std::string library_version() const override { return library_.version(); }

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

  [[nodiscard]] library& lib() noexcept { return library_; }
  [[nodiscard]] untold_credits& untold() noexcept { return untold_; }
  /// A barrier of which all ranks must say the same.
  void meet(const detail::collective_call& call);
  /// Collective. A region of the largest `bytes` of any rank. Throws errc::out_of_memory on all
  /// ranks when one has no room.
  [[nodiscard]] lent_region make_region(std::size_t bytes);
  /// Collective. Frees; a deadline that passes ends the run. With `unwinding` (an exception passes:
  /// the others may never come) it is kept instead, until all ranks make something together again.
  void give_back(std::unique_ptr<region> memory, bool unwinding);
  /// Prints why this rank failed, unless another rank of the host has said its reason already, and
  /// ends all processes.
  [[noreturn]] void end_run(const std::string& why);

 private:
  struct layout;
  team(library& lib, layout found, const run_options& options);
  [[nodiscard]] control_block& control_of(int rank) const;
  [[nodiscard]] control_block& mine() const;
  [[nodiscard]] int my_leader() const {
    return nodes().leaders()[static_cast<std::size_t>(nodes().my_node())];
  }

  // What collectives in rows ask for (row_collectives.hpp).
  friend class detail::row_collectives<team>;
  template <class Carry, class Before, class After>
  void meet(const detail::collective_call& call, const Carry& carry, const Before& before,
            const After& after);
  [[nodiscard]] std::size_t row_bytes() const noexcept { return row_bytes_; }
  [[nodiscard]] std::size_t next_row() const noexcept;
  [[nodiscard]] std::byte* reach(int peer) const { return control_->reach(peer); }
  void put_row(int to, std::size_t at, std::size_t bytes) {
    if (bytes > 0) control_->put_start(to, at, control_->local() + at, bytes);
  }
  [[nodiscard]] std::size_t ranks_before(int node) const {
    return node_starts_[static_cast<std::size_t>(node)];
  }

  /// The part of a meeting that is between nodes.
  template <class Carry>
  void meet_nodes(const detail::collective_call& call, detail::disagreement& found,
                  const Carry& carry);
  /// What the first rank `from` of another node is in, or, where its node knows already that not
  /// all agree, what it knows.
  [[nodiscard]] detail::disagreement disagreement_with(int from, bool from_agrees);
  /// Whether all are in the same exchange of blocks, where that is to be known: on one node, and
  /// with LONGSHORE_CHECK=1.
  void meet_for_blocks(const detail::collective_call& call);
  void close_kept();
  void meet_to_free();
  /// Collective when first called.
  [[nodiscard]] block_streams& streams();

  library& library_;
  std::unique_ptr<region> control_;
  std::optional<detail::node_barrier> barrier_;
  int ranks_on_host_, host_first_;  // the first rank of this host
  std::uint64_t meetings_ = 0;
  std::size_t row_bytes_;
  bool check_calls_;
  std::vector<std::size_t> node_starts_;  // how many ranks are on the nodes before each
  untold_credits untold_;
  detail::kept_resources<region> kept_;
  std::unique_ptr<block_streams> streams_;  // of alltoall, made by the first
  int unwinding_;
};

/// A region that goes back to its team when this ends: freed together with the others, or kept
/// where an exception passes (freeing would wait for those that may never come).
class lent_region {
 public:
  lent_region(team& team, std::unique_ptr<region> memory)
      : team_(team), memory_(std::move(memory)) {}
  ~lent_region() {
    if (memory_) team_.give_back(std::move(memory_), std::uncaught_exceptions() > unwinding_);
  }
  lent_region(lent_region&&) = default;
  lent_region& operator=(lent_region&&) = delete;

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  region& operator*() const noexcept { return *memory_; }
  region* operator->() const noexcept { return memory_.get(); }
  /// The caller gives it back.
  [[nodiscard]] std::unique_ptr<region> take() noexcept { return std::move(memory_); }

 private:
  team& team_;
  std::unique_ptr<region> memory_;
  int unwinding_ = std::uncaught_exceptions();
};

/// Collective. Runs `body` with a team over `lib`. An exception ends all processes with exit status
/// 3 and one message per host; it does not return.
void run(library& lib, const run_options& options,
         const std::function<void(longshore::team&)>& body);

}  // namespace longshore::one_sided
