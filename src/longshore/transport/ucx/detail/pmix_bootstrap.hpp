// The bootstrap by PMIx, without MPI: for processes that a launcher with PMIx started (mpirun of
// Open MPI, prterun, srun --mpi=pmix). The PMIx library is loaded at run time and not linked,
// because an MPI library in the same program may use a different version.
#pragma once

#include <longshore/transport/ucx/detail/process_bootstrap.hpp>

#include <memory>
#include <string>
#include <unordered_map>

namespace longshore::ucx {

struct pmix_library;

class pmix_bootstrap final : public process_bootstrap {
 public:
  /// Throws errc::transport if no launcher with PMIx started the process, or if the library is
  /// missing.
  explicit pmix_bootstrap(double timeout_seconds);
  ~pmix_bootstrap() override;

  void barrier() override { fence(false); }
  std::vector<std::uint64_t> allgather(std::uint64_t mine) override;
  void publish(std::span<const std::byte> mine) override;
  /// The first call for a rank fetches the data from the PMIx daemon of this host.
  std::span<const std::byte> published_by(int rank) override;
  [[noreturn]] void abort(int status) override;
  using process_bootstrap::abort;

 private:
  void put(const std::string& key, std::span<const std::byte> mine);
  [[nodiscard]] std::vector<std::byte> get(int rank, const std::string& key);
  /// A barrier. If `collect`, the barrier also copies the data that all ranks have put to every
  /// host.
  void fence(bool collect);

  std::unique_ptr<pmix_library> library_;
  int allgathers_ = 0;
  std::unordered_map<int, std::vector<std::byte>> published_;  // indexed by rank
};

}  // namespace longshore::ucx
