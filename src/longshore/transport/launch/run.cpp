// Chooses the transport, reads the options from the environment, and starts the run on the chosen
// transport. Transports that the build does not have are left out by the preprocessor.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/launcher.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/threads/run.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/run.hpp>
#endif
#ifdef LONGSHORE_HAVE_SHMEM
#include <longshore/transport/shmem/run.hpp>
#endif
#ifdef LONGSHORE_HAVE_UCX
#include <longshore/transport/ucx/run.hpp>
#endif
#ifdef LONGSHORE_HAVE_SIMULATED
#include <longshore/transport/simulated/run.hpp>
#endif

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace longshore {
namespace {

constexpr long max_ranks = 1 << 20;

}  // namespace

std::string chosen_transport(const std::string& requested) {
  const auto available = available_transports();
  if (!requested.empty()) {
    if (std::find(available.begin(), available.end(), requested) == available.end())
      fail(errc::usage, "transport '{}': this build has {}", requested,
           fmt::format("{}", fmt::join(available, ", ")));
    return requested;
  }
  if (!launched()) return "threads";
  // A launcher can start processes for any of these libraries. The first that the build has is the
  // default.
  for (const char* name : {"mpi", "shmem", "ucx"})
    if (std::find(available.begin(), available.end(), name) != available.end()) return name;
  require_launch_of("MPI", 1);
  return "threads";
}

std::vector<std::string> available_transports() {
  return {
      "threads",
#ifdef LONGSHORE_HAVE_MPI
      "mpi",
#endif
#ifdef LONGSHORE_HAVE_SHMEM
      "shmem",
#endif
#ifdef LONGSHORE_HAVE_UCX
      "ucx",
#endif
#ifdef LONGSHORE_HAVE_SIMULATED
      "simulated",
#endif
  };
}

bool detail::is_one_process(std::string_view transport) noexcept {
  return transport == "threads" || transport == "simulated";
}

run_options options_from_environment() {
  run_options options;
  options.transport = environment_text("LONGSHORE_TRANSPORT").value_or("");
  options.ranks =
      static_cast<int>(environment_integer("LONGSHORE_RANKS", 1, max_ranks).value_or(0));
  read_pinning(options, false);
  return with_environment(std::move(options));
}

void read_pinning(run_options& options, bool pin_by_default) {
  const std::string word =
      environment_text("LONGSHORE_PIN").value_or(pin_by_default ? "scatter" : "0");
  options.pin = word != "0";
  options.compact = word == "compact";
  if (word != "0" && word != "1" && word != "scatter" && word != "compact")
    fail(errc::usage,
         "LONGSHORE_PIN is '{}': it must be 0 (bind no rank), 1 or scatter (over all CPUs), or "
         "compact (to neighbouring cores)",
         word);
}

// The started library of the transport. At most one library is started, because libraries would
// compete for resources that a process has only once.
struct runtime::environment {
  explicit environment([[maybe_unused]] const run_options& options) {
    [[maybe_unused]] const std::string& transport = options.transport;
#ifdef LONGSHORE_HAVE_MPI
    if (transport == "mpi") mpi.emplace();
#endif
#ifdef LONGSHORE_HAVE_SHMEM
    if (transport == "shmem") shmem.emplace(options.symmetric_bytes, *options.timeout_seconds);
#endif
#ifdef LONGSHORE_HAVE_UCX
    if (transport == "ucx") ucx = ucx::process_bootstrap::join(*options.timeout_seconds);
#endif
  }
#ifdef LONGSHORE_HAVE_MPI
  std::optional<mpi::environment> mpi;
#endif
#ifdef LONGSHORE_HAVE_SHMEM
  std::optional<shmem::environment> shmem;
#endif
#ifdef LONGSHORE_HAVE_UCX
  std::unique_ptr<ucx::process_bootstrap> ucx;
#endif
};

runtime::runtime(run_options options) : options_(with_environment(std::move(options))) {
  options_.transport = chosen_transport(options_.transport);
  if (options_.transport != "threads") environment_ = std::make_unique<environment>(options_);
}

runtime::~runtime() = default;

void runtime::run(const run_options& options, const std::function<void(team&)>& body) {
#ifdef LONGSHORE_HAVE_MPI
  if (options_.transport == "mpi") {
    mpi::run(options, body);
    return;
  }
#endif
  [[maybe_unused]] const auto launched_body = [&](std::string_view library) {
    return [&body, library](team& team) {
      require_launch_of(library, team.size());
      body(team);
    };
  };
#ifdef LONGSHORE_HAVE_SHMEM
  if (options_.transport == "shmem") {
    shmem::run(options, launched_body("OpenSHMEM"));
    return;
  }
#endif
#ifdef LONGSHORE_HAVE_UCX
  if (options_.transport == "ucx") {
    ucx::run(*environment_->ucx, options, launched_body("PMIx"));
    return;
  }
#endif
#ifdef LONGSHORE_HAVE_SIMULATED
  if (options_.transport == "simulated") {
    simulated::run(options, body);
    return;
  }
#endif
  threads::run(options, body);
}

void run(int, char**, const std::function<void(team&)>& body) {
  runtime(options_from_environment()).run(body);
}

}  // namespace longshore
