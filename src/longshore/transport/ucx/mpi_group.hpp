// Processes that MPI started. What each tells all goes in rounds, so that MPI connects a rank with
// few others.
#pragma once

#include <longshore/transport/ucx/process_group.hpp>

namespace longshore::ucx {

class mpi_group final : public process_group {
 public:
  /// Starts MPI unless the program has done so, and ends it if it did.
  explicit mpi_group(double timeout_seconds);
  ~mpi_group() override;

  void barrier() override;
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) override;
  /// Memory: the sum of all, once per process.
  void publish(std::span<const std::byte> mine) override;
  [[nodiscard]] std::span<const std::byte> of_rank(int rank) override;
  [[noreturn]] void end_all(int status) override;
  using process_group::end_all;

 private:
  void complete(void* request, const char* operation);
  /// `row` begins with this rank's block, and then has those of the ranks after it, around to the
  /// one before it; block j ends at ends[j].
  void gather_blocks(std::byte* row, std::span<const std::size_t> ends);

  bool own_ = false;
  std::vector<std::byte> published_;  // as a row of gather_blocks
  std::vector<std::size_t> ends_;
};

}  // namespace longshore::ucx
