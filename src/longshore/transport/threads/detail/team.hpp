// The threads transport: ranks are threads of one process, and all data move by copies in memory.
#pragma once

#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/threads/detail/shared_state.hpp>

namespace longshore::threads {

using detail::call_mismatch;
using detail::collective;
using detail::collective_call;

class team final : public longshore::team {
 public:
  team(shared_state& shared, int rank, node_map nodes, wait_policy waiting, std::vector<int> cpus);

  std::string_view transport_name() const noexcept override { return "threads"; }
  std::string library_version() const override { return ""; }
  bool is_one_process() const noexcept override { return true; }

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
  void progress() override { shared_.check(rank()); }

  /// Collective. The last call of a rank. Only rank 0 waits for the other ranks.
  void leave() { barrier_.leave(*this, {collective::end_of_run}); }

 private:
  // A barrier that throws errc::usage if ranks pass different calls.
  void checked_barrier(const collective_call& call) {
    barrier_.wait(*this, call, [](call_mismatch&) {});
  }
  // Shows `own` to all ranks, calls read(peer, object) for the object of each rank, and returns
  // when all ranks have read.
  template <class T, class Read>
  void share(const collective_call& call, const T& own, const Read& read);
  // Replaces the values by those of all ranks, combined in the order of ranks, if `has_result`.
  template <class T>
  void combine_values(const collective_call& call, std::span<T> values, bool has_result);

  shared_state& shared_;
  detail::node_barrier barrier_;
};

}  // namespace longshore::threads
