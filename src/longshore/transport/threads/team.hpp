// The threads transport: ranks are threads of one process, and all data move by copies in memory.
#pragma once

#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/threads/shared_state.hpp>

namespace longshore::threads {

class team final : public longshore::team {
 public:
  team(shared_state& shared, int rank, node_map nodes, wait_policy waiting, std::vector<int> cpus);

  [[nodiscard]] std::string_view transport_name() const noexcept override { return "threads"; }
  [[nodiscard]] std::string library_version() const override { return ""; }

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
  void progress() override { shared_.check(rank()); }

  /// Collective. The last call of a rank. Only rank 0 waits for the others in it.
  void leave() { barrier_.leave(*this, {.kind = detail::collective::end_of_run}); }

 private:
  // A barrier that throws errc::usage unless all ranks pass the same call.
  void checked_barrier(const detail::collective_call& call) {
    barrier_.wait(*this, call, [](detail::call_mismatch&) {});
  }
  // Posts `mine`, calls `read(rank, theirs)` for the object of each rank, and returns when all
  // ranks have read.
  template <class T, class Read>
  void share(const detail::collective_call& call, const T& mine, const Read& read);
  template <class T>
  void allreduce_values(std::span<T> values, reduction operation, detail::collective what);

  shared_state& shared_;
  detail::node_barrier barrier_;
};

}  // namespace longshore::threads
