// The bootstrap by MPI. Published data are sent in rounds, so that MPI connects each rank with few
// others.
#pragma once

#include <longshore/transport/ucx/process_bootstrap.hpp>

namespace longshore::ucx {

class mpi_bootstrap final : public process_bootstrap {
 public:
  /// Initialises MPI unless the program has done so; the destructor then finalises it.
  explicit mpi_bootstrap(double timeout_seconds);
  ~mpi_bootstrap() override;

  void barrier() override;
  [[nodiscard]] std::vector<std::uint64_t> allgather(std::uint64_t mine) override;
  /// Each process stores the published data of all ranks.
  void publish(std::span<const std::byte> mine) override;
  [[nodiscard]] std::span<const std::byte> published_by(int rank) override;
  [[noreturn]] void abort(int status) override;
  using process_bootstrap::abort;

 private:
  void complete(void* request, const char* operation);
  /// `blocks` begins with this rank's block. The blocks of the next ranks follow, cyclically; block
  /// j ends at offset ends[j].
  void allgather_blocks(std::byte* blocks, std::span<const std::size_t> ends);

  bool own_ = false;
  std::vector<std::byte> published_;  // the blocks of allgather_blocks
  std::vector<std::size_t> ends_;
};

}  // namespace longshore::ucx
