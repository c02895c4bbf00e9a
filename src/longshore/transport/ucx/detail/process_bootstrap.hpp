// The bootstrap of UCX: which processes take part, and how they find each other. MPI, or the PMIx
// of a launcher, provides this information. No data of a run is sent through the bootstrap.
#pragma once

#include <longshore/transport/detail/watchdog.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::ucx {

class process_bootstrap {
 public:
  /// Connects to the processes that the launcher started with this one. LONGSHORE_UCX_START selects
  /// mpi (the default if this build has MPI) or pmix. If the start or the end of MPI or PMIx takes
  /// longer than `timeout_seconds` (at least ten seconds; 0 means no deadline), the process ends.
  /// Throws errc::usage or errc::transport.
  [[nodiscard]] static std::unique_ptr<process_bootstrap> join(double timeout_seconds);
  virtual ~process_bootstrap() = default;
  process_bootstrap(const process_bootstrap&) = delete;
  process_bootstrap& operator=(const process_bootstrap&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Sets a function that all waits in this class call, because other ranks may depend on its
  /// progress.
  void set_progress(std::function<void()> progress) { progress_ = std::move(progress); }
  /// Sets the deadline after which waits in this class throw errc::timeout: at least ten seconds,
  /// because a start takes longer than a message. 0 means no deadline.
  void set_deadline(double seconds) noexcept {
    deadline_seconds_ = start_deadline_seconds(seconds);
  }
  /// Collective.
  virtual void barrier() = 0;
  /// Collective. The numbers of all ranks, indexed by rank.
  [[nodiscard]] virtual std::vector<std::uint64_t> allgather(std::uint64_t mine) = 0;
  /// Collective. Makes `mine` available to all ranks through published_by().
  virtual void publish(std::span<const std::byte> mine) = 0;
  [[nodiscard]] virtual std::span<const std::byte> published_by(int rank) = 0;
  /// Ends all processes.
  [[noreturn]] virtual void abort(int status) = 0;
  /// Prints the failure and ends all processes with exit status 3. Used when there is no team.
  void abort(const std::exception_ptr& failure);

 protected:
  process_bootstrap() = default;
  /// One step of a wait that began at `began_seconds`. Throws errc::timeout after the deadline.
  void pause(double began_seconds);
  double deadline_seconds_ = 0;
  std::function<void()> progress_ = [] {};
  int rank_ = 0, size_ = 1;
};

}  // namespace longshore::ucx
