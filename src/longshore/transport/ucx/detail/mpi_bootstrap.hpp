// The bootstrap by MPI. Published data are sent in log2(ranks) rounds, so that MPI connects each
// rank with few other ranks.
#pragma once

#include <longshore/transport/ucx/detail/process_bootstrap.hpp>

namespace longshore::ucx {

class mpi_bootstrap final : public process_bootstrap {
 public:
  /// Initialises MPI unless the program has done so. The destructor finalises MPI if the
  /// constructor initialised it.
  explicit mpi_bootstrap(double timeout_seconds);
  ~mpi_bootstrap() override;

  void barrier() override;
  std::vector<std::uint64_t> allgather(std::uint64_t mine) override;
  /// Each process stores the published data of all ranks.
  void publish(std::span<const std::byte> mine) override;
  std::span<const std::byte> published_by(int rank) override;
  [[noreturn]] void abort(int status) override;
  using process_bootstrap::abort;

 private:
  void complete(void* request, const char* operation);
  /// Sends this rank's block, at the start of `blocks`, to all ranks. Receives the blocks of the
  /// following ranks, cyclically, behind this block. Block j ends at offset ends[j].
  void allgather_blocks(std::byte* blocks, std::span<const std::size_t> ends);

  bool owns_mpi_ = false;
  std::vector<std::byte> published_;  // the blocks of allgather_blocks
  std::vector<std::size_t> ends_;
};

}  // namespace longshore::ucx
