// Starting a run.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// Names of the transports that this program has, in the order of preference without a launcher. A
/// program with shared libraries loads all modules of Longshore to answer.
[[nodiscard]] std::vector<std::string> available_transports();

/// Returns the transport of a run: `requested`, unless it is empty; else the transport of the
/// launcher; without a launcher, threads. Throws errc::usage for a transport that this program does
/// not have, and says why.
[[nodiscard]] std::string chosen_transport(const std::string& requested);

namespace detail {
class started_transport;
/// Whether all ranks of a transport live in one process, so that no launcher starts them.
[[nodiscard]] bool is_one_process(std::string_view transport) noexcept;
/// Throws errc::usage with file, line and remedy if `file` is no machine file of transport
/// simulated. A build without that transport only checks that the file can be read.
void check_machine_file(const std::string& file);
}  // namespace detail

/// Options from the environment: LONGSHORE_TRANSPORT, LONGSHORE_RANKS, LONGSHORE_RANKS_PER_NODE,
/// LONGSHORE_TIMEOUT (seconds), LONGSHORE_CHECK (0, 1), LONGSHORE_PIN (0, 1, scatter, compact).
/// Throws errc::usage for an invalid value.
[[nodiscard]] run_options options_from_environment();
/// Sets options.pin and options.compact from LONGSHORE_PIN. The default of LONGSHORE_PIN is scatter
/// if `pin_by_default`, else 0.
void read_pinning(run_options& options, bool pin_by_default);

/// The program of a rank: any function object that takes a team.
using rank_function = detail::shared_function<void(team&)>;

/// Starts the underlying library and keeps it between runs. Some libraries, such as MPI, can be
/// started only once in a process.
class runtime {
 public:
  /// Throws errc::usage for a transport that this build does not have, or an invalid value in the
  /// environment.
  explicit runtime(run_options options);
  ~runtime();

  /// The options, with the chosen transport in options().transport.
  [[nodiscard]] const run_options& options() const noexcept { return options_; }
  /// Runs `body` once on every rank, and returns when all ranks have ended. On threads the first
  /// failure is rethrown; on other transports a failure ends all processes with status 3.
  void run(const rank_function& body);
  /// Runs `body` with other options. options.transport is ignored.
  void run(const run_options& options, const rank_function& body);

 private:
  run_options options_;
  // At most one library is started, because libraries would compete for resources that a process
  // has only once.
  std::unique_ptr<detail::started_transport> started_;
};

/// Runs `body` on every rank, with options from the environment.
///
///     longshore::run(argc, argv, [](longshore::team& team) { team.barrier(); });
void run(int argc, char** argv, const rank_function& body);

}  // namespace longshore
