// Who takes part, and how their processes find each other: what UCX leaves to whoever started them,
// which is MPI or the PMIx of a launcher. They carry nothing else: no data of a run goes through
// them.
#pragma once

#include <longshore/transport/watchdog.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::ucx {

class process_group {
 public:
  /// Joins the processes that the launcher started with this one. LONGSHORE_UCX_START says by what:
  /// mpi (where this build has MPI: the default) or pmix. A start or an end of theirs that lasts
  /// longer than `timeout_seconds` (and some seconds at least; 0: none) ends the process. Throws
  /// errc::usage or errc::transport.
  [[nodiscard]] static std::unique_ptr<process_group> join(double timeout_seconds);
  virtual ~process_group() = default;
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// What is to be called while this rank waits here: others may depend on it.
  void set_progress(std::function<void()> progress) { progress_ = std::move(progress); }
  /// Waits of more than `seconds` fail with errc::timeout; 0: none do. A start lasts longer than a
  /// message: never less than some seconds.
  void set_deadline(double seconds) noexcept {
    deadline_seconds_ = start_deadline_seconds(seconds);
  }
  /// Collective.
  virtual void barrier() = 0;
  [[nodiscard]] virtual std::vector<std::uint64_t> gather(std::uint64_t mine) = 0;
  /// Collective. Makes `mine` known to all; of_rank() gives what a rank made known.
  virtual void publish(std::span<const std::byte> mine) = 0;
  [[nodiscard]] virtual std::span<const std::byte> of_rank(int rank) = 0;
  /// Ends all processes.
  [[noreturn]] virtual void end_all(int status) = 0;
  /// The same, with exit status 3 and a message of `why` this rank failed where there is no team
  /// yet, or no more.
  void end_all(const std::exception_ptr& why);

 protected:
  process_group() = default;
  /// One turn of a wait that began then.
  void pause(double began_seconds);
  double deadline_seconds_ = 0;
  std::function<void()> progress_ = [] {};
  int rank_ = 0, size_ = 1;
};

}  // namespace longshore::ucx
