// Starting a run: the one place that knows which transports this build has.
#pragma once

#include <longshore/transport/run_options.hpp>
#include <longshore/transport/team.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace longshore {

/// Names of the transports of this build, in the order of preference without a launcher.
[[nodiscard]] std::vector<std::string> available_transports();

/// The transport that a run has: `asked`, or where that is empty what the surroundings say, a
/// launcher's or else threads. Throws errc::usage for one that this build does not have.
[[nodiscard]] std::string chosen_transport(const std::string& asked);

/// Options from the environment: LONGSHORE_TRANSPORT, LONGSHORE_RANKS, LONGSHORE_RANKS_PER_NODE,
/// LONGSHORE_TIMEOUT (seconds), LONGSHORE_PIN (0, 1, scatter, compact). Throws errc::usage for a
/// value that does not parse.
[[nodiscard]] run_options options_from_environment();
/// What LONGSHORE_PIN says of binding alone; where it is not set: scatter, or nothing is bound.
void read_pinning(run_options& options, bool otherwise);

/// Keeps the library underneath started between several runs (MPI can be started only once in a
/// process).
class launcher {
 public:
  /// Throws errc::usage for a transport that this build does not have.
  explicit launcher(run_options options);
  ~launcher();

  /// The options with the transport filled in.
  [[nodiscard]] const run_options& options() const noexcept { return options_; }
  /// Runs `body` once on every rank, and returns when all ranks have ended. On threads the first
  /// failure is rethrown; on mpi a failure ends the process with status 3.
  void run(const std::function<void(team&)>& body) { run(options_, body); }
  /// The same with other options than it was started with; the transport stays.
  void run(const run_options& options, const std::function<void(team&)>& body);

 private:
  struct environment;
  run_options options_;
  std::unique_ptr<environment> environment_;
};

/// Runs an SPMD program: `body` on every rank, with options from the environment.
///
///     longshore::run(argc, argv, [](longshore::team& team) { team.barrier(); });
void run(int argc, char** argv, const std::function<void(team&)>& body);

}  // namespace longshore
