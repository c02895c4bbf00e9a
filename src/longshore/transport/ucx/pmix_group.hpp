// Processes that a launcher with PMIx started (mpirun of Open MPI, prterun, srun --mpi=pmix),
// without MPI. Its library is loaded when it is asked for, and never linked: that of an MPI in the
// same program may be another one.
#pragma once

#include <longshore/transport/ucx/process_group.hpp>

#include <memory>
#include <string>
#include <unordered_map>

namespace longshore::ucx {

struct pmix_library;

class pmix_group final : public process_group {
 public:
  /// Throws errc::transport without such a launcher, or without the library.
  explicit pmix_group(double timeout_seconds);
  ~pmix_group() override;

  void barrier() override { fence(false); }
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) override;
  void publish(std::span<const std::byte> mine) override;
  /// Fetched at the first call for a rank, from this host's daemon.
  [[nodiscard]] std::span<const std::byte> of_rank(int rank) override;
  [[noreturn]] void end_all(int status) override;
  using process_group::end_all;

 private:
  void put(const std::string& key, std::span<const std::byte> mine);
  [[nodiscard]] std::vector<std::byte> get(int rank, const std::string& key);
  /// All meet; with `collect` what they have put is brought to every host.
  void fence(bool collect);

  std::unique_ptr<pmix_library> library_;
  int gathers_ = 0;
  std::unordered_map<int, std::vector<std::byte>> known_;  // what ranks published
};

}  // namespace longshore::ucx
