#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/threads/run.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/run.hpp>
#endif

#include <fmt/ranges.h>

#include <algorithm>

namespace longshore {
namespace {

constexpr long most_ranks = 1 << 20;
constexpr double most_seconds = 1e6;

std::string choose_transport(const std::string& asked) {
  const auto available = available_transports();
  if (!asked.empty()) {
    if (std::find(available.begin(), available.end(), asked) == available.end())
      fail(errc::usage, "transport '{}': this build has {}", asked, fmt::join(available, ", "));
    return asked;
  }
#ifdef LONGSHORE_HAVE_MPI
  if (mpi::is_launched()) return "mpi";
#endif
  return "threads";
}

}  // namespace

std::vector<std::string> available_transports() {
  return {
      "threads",
#ifdef LONGSHORE_HAVE_MPI
      "mpi",
#endif
  };
}

run_options options_from_environment() {
  run_options options;
  options.transport = environment_text("LONGSHORE_TRANSPORT").value_or("");
  options.ranks = static_cast<int>(environment_integer("LONGSHORE_RANKS", 1, most_ranks).value_or(0));
  options.ranks_per_node = static_cast<int>(environment_integer("LONGSHORE_RANKS_PER_NODE", 0, most_ranks).value_or(0));
  options.timeout_seconds = environment_number("LONGSHORE_TIMEOUT", 0, most_seconds).value_or(options.timeout_seconds);
  read_pinning(options, false);
  return options;
}

void read_pinning(run_options& options, bool otherwise) {
  const std::string word = environment_text("LONGSHORE_PIN").value_or(otherwise ? "scatter" : "0");
  options.pin = word != "0";
  options.compact = word == "compact";
  if (word != "0" && word != "1" && word != "scatter" && word != "compact")
    fail(errc::usage,
         "LONGSHORE_PIN is '{}': it is 0 (bind no rank), 1 or scatter (over all CPUs), or compact (to neighbouring cores)", word);
}

struct launcher::environment {
#ifdef LONGSHORE_HAVE_MPI
  mpi::environment mpi;
#endif
};

launcher::launcher(run_options options) : options_(std::move(options)) {
  options_.transport = choose_transport(options_.transport);
  if (options_.transport != "threads") environment_ = std::make_unique<environment>();
}

launcher::~launcher() = default;

void launcher::run(const std::function<void(team&)>& body) {
#ifdef LONGSHORE_HAVE_MPI
  if (options_.transport == "mpi") {
    mpi::run(options_, body);
    return;
  }
#endif
  threads::run(options_, body);
}

void run(int, char**, const std::function<void(team&)>& body) { launcher(options_from_environment()).run(body); }

}  // namespace longshore
