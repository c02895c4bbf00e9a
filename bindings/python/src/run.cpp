// The functions run() and world() of Python, and the constructor Team(comm). run() starts ranks and
// ends with them. world() and Team(comm) join ranks that exist already; these teams end with
// close() or with the interpreter.
#include "arrays.hpp"
#include "gil.hpp"
#include "module.hpp"
#include "mpi4py_communicator.hpp"
#include "python_reference.hpp"
#include "rank_team.hpp"

#include <longshore/core/clock.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

namespace longshore::python {
namespace {

using namespace nb::literals;

// State of the process; guarded by the GIL.
struct process_state {
  std::shared_ptr<runtime> started;                 // keeps MPI until the end of the interpreter
  std::vector<std::shared_ptr<team_owner>> joined;  // joined teams, which end before MPI
  std::shared_ptr<team_owner> world;                // the team of all processes
  int started_in = 0;                               // the generation of the process that started it
};
process_state& process() {
  static auto* state = new process_state;  // outlives every Python object
  return *state;
}

thread_local std::shared_ptr<team_owner> current_team;  // inside run()
thread_local std::shared_ptr<team_owner> lone_team;     // outside run(), without a launcher

run_options options_for(std::optional<std::string> transport, std::optional<int> ranks,
                        std::optional<int> ranks_per_node, std::optional<double> timeout_seconds,
                        std::optional<bool> check_calls) {
  run_options options = options_from_environment();
  if (transport) options.transport = *transport;
  if (ranks) {
    if (*ranks < 1) fail(errc::usage, "{} ranks: at least one is needed", *ranks);
    options.ranks = *ranks;
  }
  if (ranks_per_node) options.ranks_per_node = *ranks_per_node;
  if (timeout_seconds && !(*timeout_seconds >= 0))
    fail(errc::usage, "timeout_seconds {}: 0 or more; 0 means no deadline", *timeout_seconds);
  if (timeout_seconds) options.timeout_seconds = timeout_seconds;
  if (check_calls) options.check_calls = check_calls;
  return options;
}

// Makes Ctrl-C end a wait. Python only records a signal until its main thread checks for it.
void check_signals() {
  constexpr double check_interval_seconds = 0.05;
  thread_local double checked = 0;
  const double now = monotonic_seconds();
  if (now - checked < check_interval_seconds) return;
  checked = now;
  const acquire_gil lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// REQUIRES: the thread holds the GIL.
void check_signals_in_waits(team& ranks) {
  const nb::module_ threading = nb::module_::import_("threading");
  if (threading.attr("current_thread")().is(threading.attr("main_thread")()))
    ranks.attribute<wait_callback>().call = check_signals;
}

// Keeps the runtime if ranks are processes, because communication libraries start only once in a
// process.
std::shared_ptr<runtime> start(const run_options& options) {
  auto& started = process().started;
  if (started && started->options().transport == options.transport) return started;
  auto started_runtime = std::make_shared<runtime>(options);
  if (options.transport != "threads" && !started) {
    started = started_runtime;
    process().started_in = team_owner::generation();
  }
  return started_runtime;
}

// The failure of a process whose program raised an exception: type, message and traceback.
// REQUIRES: the thread holds the GIL.
program_failure failure_of_program(nb::python_error& thrown) {
  const auto type = nb::cast<std::string>(nb::str(thrown.type().attr("__qualname__")));
  const auto message = nb::cast<std::string>(nb::str(thrown.value()));
  const nb::object lines =
      nb::module_::import_("traceback").attr("format_exception")(thrown.value());
  auto traceback = nb::cast<std::string>(nb::str("").attr("join")(lines));
  traceback.erase(traceback.find_last_not_of('\n') + 1);
  return program_failure(fmt::format("the program raised {}{}{}\n{}", type,
                                     message.empty() ? "" : ": ", message, traceback));
}

// Calls main with the team of one rank. Then all ranks together free the objects that main has
// made.
void run_rank(team& ranks, nb::handle main, nb::handle arguments, python_reference& result) {
  // The pointer does not own the team, which belongs to the run.
  const auto owner = std::make_shared<team_owner>(std::shared_ptr<team>(&ranks, [](team*) {}));
  struct leaving {
    const std::shared_ptr<team_owner>& owner;
    ~leaving() { owner->abandon(); }  // does nothing after end()
  } const leaving{owner};
  {
    const acquire_gil lock;
    check_signals_in_waits(ranks);
    current_team = owner;
    struct forgetting {
      ~forgetting() { current_team.reset(); }
    } const forgetting;
    try {
      result.hold(main(rank_team{owner}, *nb::borrow<nb::tuple>(arguments)));
    } catch (nb::python_error& thrown) {
      if (ranks.transport_name() == "threads") throw;  // run() raises it
      throw failure_of_program(thrown);
    }
  }
  owner->end();
}

nb::object run_ranks(const nb::object& main, std::optional<int> ranks, nb::tuple args,
                     std::optional<std::string> transport, std::optional<int> ranks_per_node,
                     std::optional<double> timeout_seconds, std::optional<bool> check_calls) {
  if (current_team) fail(errc::usage, "run() inside run(): ranks cannot start further ranks");
  if (PyCallable_Check(main.ptr()) == 0)
    throw nb::type_error("run(main): main must be a function of a Team");
  run_options options =
      options_for(std::move(transport), ranks, ranks_per_node, timeout_seconds, check_calls);
  options.transport = chosen_transport(options.transport);
  const bool of_processes = options.transport != "threads";
  if (of_processes) options.ranks = 0;  // the launcher decides
  const auto started_runtime = start(options);
  nb::object result;
  {
    const release_gil unlocked;
    started_runtime->run(options, [&](team& mine) {
      // Ranks that are processes have a GIL each.
      const gil_turn::rank_of_run in_run(of_processes ? 1 : mine.size());
      python_reference rank_result;  // acquires the GIL, also when this rank fails
      run_rank(mine, main, args, rank_result);
      const acquire_gil lock;
      nb::object value = rank_result.take();
      if (mine.rank() == 0 || of_processes) result = std::move(value);
    });
  }
  return result.is_valid() ? result : nb::none();
}

rank_team joined(std::shared_ptr<team> ranks) {
  check_signals_in_waits(*ranks);
  rank_team mine{std::make_shared<team_owner>(std::move(ranks))};
  process().joined.push_back(mine.owner);
  return mine;
}

rank_team join_comm(nb::handle comm, std::optional<int> ranks_per_node,
                    std::optional<double> timeout_seconds, std::optional<bool> check_calls) {
  run_options options = options_for({}, {}, ranks_per_node, timeout_seconds, check_calls);
  const mpi4py_communicator given = communicator_of(comm, "Team(comm)");
  std::shared_ptr<team> ranks;
  {
    const release_gil unlocked;
    ranks = detail::join(given.address, given.headers, options);
  }
  return joined(std::move(ranks));
}

// Ends joined teams and MPI. atexit calls this function before mpi4py finalises MPI. After an
// uncaught exception nothing collective is done, because other ranks may not arrive. A forked
// process does not end the teams of its parent.
void end_all() {
  auto& state = process();
  // Python sets sys.last_value when it prints an uncaught exception.
  const bool failed = PySys_GetObject("last_value") != nullptr;
  auto joined_teams = std::move(state.joined);
  state.world.reset();
  lone_team.reset();
  if (failed || state.started_in != team_owner::generation())
    // The runtime is never freed, so that MPI is not finalised. After a failure the launcher then
    // ends all other processes.
    new std::shared_ptr(std::move(state.started));
  if (failed) {
    detail::forget_open_teams();  // mpi4py ends MPI now
    return;
  }
  const release_gil unlocked;
  while (!joined_teams.empty()) {
    team_owner& owner = *joined_teams.back();
    if (detail::mpi_has_ended())
      owner.abandon();  // the program has ended MPI; MPI_Finalize reported that
    else if (!owner.is_of_parent())
      owner.end();
    joined_teams.pop_back();
  }
  state.started.reset();
}

}  // namespace

rank_team world() {
  if (current_team) return {current_team};
  auto& state = process();
  if (state.world && !state.world->ended()) return {state.world};
  if (lone_team && !lone_team->ended()) return {lone_team};
  run_options options = options_from_environment();
  options.transport = chosen_transport(options.transport);
  if (options.transport == "threads") {
    options.ranks = 1;
    lone_team = std::make_shared<team_owner>(join(options));
    return {lone_team};
  }
  // join() refuses other transports of processes, so they need no start.
  if (options.transport == "mpi") static_cast<void>(start(options));
  std::shared_ptr<team> ranks;
  {
    const release_gil unlocked;
    ranks = join(options);
  }
  const rank_team team_of_all = joined(std::move(ranks));
  state.world = team_of_all.owner;
  return team_of_all;
}

rank_team team_or_world(nb::handle team) {
  if (team.is_none()) return world();
  rank_team mine;
  if (nb::try_cast(team, mine)) return mine;
  type_error("team: a Team is needed, from run() or world(); got {}",
             nb::cast<std::string>(nb::str(team.type().attr("__name__"))));
}

void bind_run(nb::module_& module) {
  module.def(
      "run", &run_ranks, "main"_a, "ranks"_a = nb::none(), nb::kw_only(),
      "args"_a = nb::make_tuple(), "transport"_a = nb::none(), "ranks_per_node"_a = nb::none(),
      "timeout_seconds"_a = nb::none(), "check_calls"_a = nb::none(),
      nb::sig("def run(main: collections.abc.Callable[typing.Concatenate[Team, ...], T], "
              "ranks: int | None = None, *, "
              "args: tuple[typing.Any, ...] = (), "
              "transport: str | None = None, ranks_per_node: int | None = None, timeout_seconds: "
              "float | None = None, check_calls: bool | None = None) -> T"),
      R"(Runs ``main(team, *args)`` once on every rank, and returns when all ranks have ended.

Ranks are threads of this process. Under an MPI launcher they are processes, and the launcher
decides their number. The same script runs with threads and with processes.

ranks: the number of threads; by default LONGSHORE_RANKS, else one per core.
args: further arguments of main.
transport: a name of transports(); by default mpi under an MPI launcher, else threads.
ranks_per_node: makes virtual nodes of this many ranks.
timeout_seconds: the deadline of every wait; 0 means no deadline. By default LONGSHORE_TIMEOUT, else
    300.
check_calls: compare every collective call between ranks. By default LONGSHORE_CHECK, else False.

If ranks are threads, returns the result of main on rank 0; if ranks are processes, the result of
this process. The first exception of a rank ends the run: with threads, run() raises the exception;
with processes, all processes end with status 3.

>>> longshore.run(lambda team: team.allreduce(team.rank), ranks=4)
6
)");
  module.def("world", &world,
             R"(Returns the team of this rank.

Inside of run(), the team of the run. Outside of run(), the team of all processes under an MPI
launcher; the first call is then collective. Without a launcher, a team of this thread alone, so
that a notebook needs no run().

>>> longshore.world().size
1
)");
  module.def("_join", &join_comm, "comm"_a, "ranks_per_node"_a = nb::none(),
             "timeout_seconds"_a = nb::none(), "check_calls"_a = nb::none());
  module.def("_end_all", &end_all);
  module.def("transports", &available_transports,
             R"(Returns the names of the transports of this build.

>>> 'threads' in longshore.transports()
True
)");
  team_owner::count_generations();
  gil_turn::prepare();
  nb::module_::import_("atexit").attr("register")(module.attr("_end_all"));
}

}  // namespace longshore::python
