// Chooses the transport, reads the options from the environment, and starts the run on the chosen
// transport.
#include <longshore/core/detail/joined.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/launcher.hpp>
#include <longshore/transport/launch/detail/find_transport.hpp>
#include <longshore/transport/launch/run.hpp>

#include <fmt/core.h>

#include <utility>

namespace longshore {
namespace {

constexpr long max_ranks = 1 << 20;

bool is_here(const char* transport) { return detail::find_transport(transport).entry != nullptr; }

}  // namespace

std::string chosen_transport(const std::string& requested) {
  if (!requested.empty()) {
    const auto found = detail::find_transport(requested);
    if (found.entry == nullptr)
      fail(errc::usage, "transport '{}': {}; available: {}", requested, found.why_missing,
           detail::joined(available_transports()));
    return requested;
  }
  if (!launched()) return "threads";
  // A launcher can start processes for any of these libraries. The first is the default.
  for (const char* name : {"mpi", "shmem", "ucx"})
    if (is_here(name)) return name;
  require_launch_of("MPI", 1);
  return "threads";
}

std::vector<std::string> available_transports() {
  std::vector<std::string> names;
  for (const char* name : {"threads", "mpi", "shmem", "ucx", "simulated"})
    if (is_here(name)) names.emplace_back(name);
  return names;
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

runtime::runtime(run_options options) : options_(with_environment(std::move(options))) {
  options_.transport = chosen_transport(options_.transport);
  started_ = detail::find_transport(options_.transport).entry->start(options_);
}

runtime::~runtime() = default;

void runtime::run(const rank_function& body) { run(options_, body); }

void runtime::run(const run_options& options, const rank_function& body) {
  started_->run(options, body);
}

void run(int, char**, const rank_function& body) { runtime(options_from_environment()).run(body); }

}  // namespace longshore
