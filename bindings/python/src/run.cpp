// run(), world(), Team(comm): how ranks come to be, and what ends with the interpreter.
#include "python_lock.hpp"
#include "python_reference.hpp"
#include "rank_team.hpp"

#include <longshore/core/clock.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/launch/join.hpp>
#include <longshore/transport/launch/run.hpp>
#include <longshore/transport/team_attribute.hpp>
#include <longshore/transport/wait_callback.hpp>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>

namespace longshore::python {
namespace {

using namespace nb::literals;

// What a process has once; with Python's lock.
struct process_state {
  std::shared_ptr<runtime> started;  // keeps MPI until the interpreter ends,
  // teams that were joined, to be ended before MPI is
  std::vector<std::shared_ptr<membership>> joined;
  std::shared_ptr<membership> world;  // of processes
  int started_in = 0;                 // which generation of processes
};
process_state& process() {
  static auto* state = new process_state;  // outlives whatever Python drops last
  return *state;
}

thread_local std::shared_ptr<membership> of_this_rank;  // inside run
thread_local std::shared_ptr<membership> alone;         // outside, without a launcher

run_options options_for(std::optional<std::string> transport, std::optional<int> ranks,
                        std::optional<int> ranks_per_node, std::optional<double> timeout) {
  run_options options = options_from_environment();
  if (transport) options.transport = *transport;
  if (ranks) {
    if (*ranks < 1) fail(errc::usage, "{} ranks: at least one is needed", *ranks);
    options.ranks = *ranks;
  }
  if (ranks_per_node) options.ranks_per_node = *ranks_per_node;
  if (timeout && !(*timeout >= 0))
    fail(errc::usage, "timeout {}: seconds, 0 or more; 0 is no deadline", *timeout);
  if (timeout) options.timeout_seconds = *timeout;
  return options;
}

// Ctrl-C while a rank waits: Python only notes a signal until its main thread asks.
void look_for_signals() {
  constexpr double seconds_between_looks = 0.05;
  thread_local double looked = 0;
  const double now = monotonic_seconds();
  if (now - looked < seconds_between_looks) return;
  looked = now;
  const with_python lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// With Python's lock.
void heed_signals(team& ranks) {
  const nb::module_ threading = nb::module_::import_("threading");
  if (threading.attr("current_thread")().is(threading.attr("main_thread")()))
    detail::team_attribute<wait_callback>(ranks).call = look_for_signals;
}

// What was started stays so: the libraries underneath start once in a process.
std::shared_ptr<runtime> start(const run_options& options) {
  auto& started = process().started;
  if (started && started->options().transport == options.transport) return started;
  auto starter = std::make_shared<runtime>(options);
  if (options.transport != "threads" && !started) {
    started = starter;
    process().started_in = membership::generation();
  }
  return starter;
}

// An exception of Python as the end of a run of processes tells it: type, message and traceback.
// With Python's lock.
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

// What one rank does: calls main with its team, and ends with the others what was made meanwhile.
void run_rank(team& ranks, nb::handle main, nb::handle arguments, python_reference& result) {
  const auto members = std::make_shared<membership>(std::shared_ptr<team>(&ranks, [](team*) {}));
  struct leaving {
    const std::shared_ptr<membership>& members;
    ~leaving() { members->abandon(); }  // nothing where it has ended
  } const leaving{members};
  {
    const with_python lock;
    heed_signals(ranks);
    of_this_rank = members;
    struct forgetting {
      ~forgetting() { of_this_rank.reset(); }
    } const forgetting;
    try {
      result.hold(main(rank_team{members}, *nb::borrow<nb::tuple>(arguments)));
    } catch (nb::python_error& thrown) {
      if (ranks.transport_name() == "threads") throw;  // run() raises it
      throw failure_of_program(thrown);
    }
  }
  members->end();
}

nb::object run_ranks(const nb::object& main, std::optional<int> ranks, nb::tuple args,
                     std::optional<std::string> transport, std::optional<int> ranks_per_node,
                     std::optional<double> timeout) {
  if (of_this_rank)
    fail(errc::usage, "run() inside run(): the ranks of a run start no further ones");
  if (PyCallable_Check(main.ptr()) == 0)
    throw nb::type_error("run(main): main must be a function of a Team");
  run_options options = options_for(std::move(transport), ranks, ranks_per_node, timeout);
  options.transport = chosen_transport(options.transport);
  const bool of_processes = options.transport != "threads";
  if (of_processes) options.ranks = 0;  // the launcher has said how many
  const auto starter = start(options);
  nb::object result;
  {
    const without_python unlocked;
    starter->run(options, [&](team& mine) {
      const turn_to_ask::crowd crowd(of_processes ? 1 : mine.size());
      python_reference own;  // goes with Python's lock, also when the end of this rank fails
      run_rank(mine, main, args, own);
      const with_python lock;
      nb::object value = own.take();
      if (mine.rank() == 0 || of_processes) result = std::move(value);
    });
  }
  return result.is_valid() ? result : nb::none();
}

rank_team joined(std::shared_ptr<team> ranks) {
  heed_signals(*ranks);
  rank_team mine{std::make_shared<membership>(std::move(ranks))};
  process().joined.push_back(mine.members);
  return mine;
}

// mpi4py.MPI._addressof says where the communicator lies; nothing of mpi4py is needed to build
// this.
std::uintptr_t address_of(nb::handle comm) {
  const nb::handle type = comm.type();
  const auto module = nb::cast<std::string>(type.attr("__module__"));
  if (module != "mpi4py.MPI")
    throw nb::type_error(fmt::format("Team(comm): a communicator of mpi4py is needed, got {}.{}",
                                     module, nb::cast<std::string>(type.attr("__name__")))
                             .c_str());
  const nb::module_ mpi = nb::module_::import_("mpi4py.MPI");
  if (PyObject_IsInstance(comm.ptr(), mpi.attr("Comm").ptr()) != 1)
    throw nb::type_error(
        "Team(comm): a communicator of mpi4py is needed, got another object of it");
  if (comm.equal(mpi.attr("COMM_NULL")))
    fail(errc::usage,
         "Team(comm): COMM_NULL, of which ranks that are not in a communicator, or have freed it, "
         "make no team");
  const bool can_ask =
      nb::cast<bool>(mpi.attr("Is_initialized")()) && !nb::cast<bool>(mpi.attr("Is_finalized")());
  if (can_ask && nb::cast<bool>(comm.attr("Is_inter")()))
    fail(errc::usage,
         "Team(comm): an intercommunicator, which has two groups of ranks: comm.Merge() is one of "
         "all of them");
  return nb::cast<std::uintptr_t>(mpi.attr("_addressof")(comm));
}

rank_team join_comm(nb::handle comm, std::optional<int> ranks_per_node,
                    std::optional<double> timeout) {
  const run_options options = options_for({}, {}, ranks_per_node, timeout);
  const std::uintptr_t address = address_of(comm);
  std::shared_ptr<team> ranks;
  {
    const without_python unlocked;
    ranks = join_communicator(reinterpret_cast<const void*>(address), options);
  }
  return joined(std::move(ranks));
}

// Called by atexit, before mpi4py ends MPI. After an exception that nobody caught the other ranks
// may not come: then the processes just end. What a process that was forked has of its parent is
// its parent's to end.
void end_all() {
  auto& state = process();
  const bool failed = PySys_GetObject("last_value") != nullptr;
  auto joined_teams = std::move(state.joined);
  state.world.reset();
  alone.reset();
  if (failed || state.started_in != membership::generation())
    // nobody ends MPI: a launcher then ends the others
    new std::shared_ptr(std::move(state.started));
  if (failed) return;
  const without_python unlocked;
  while (!joined_teams.empty()) {
    if (!joined_teams.back()->is_of_parent()) joined_teams.back()->end();
    joined_teams.pop_back();
  }
  state.started.reset();
}

}  // namespace

rank_team world() {
  if (of_this_rank) return {of_this_rank};
  auto& state = process();
  if (state.world && !state.world->ended()) return {state.world};
  if (alone && !alone->ended()) return {alone};
  run_options options = options_from_environment();
  options.transport = chosen_transport(options.transport);
  if (options.transport == "threads") {
    options.ranks = 1;
    alone = std::make_shared<membership>(join(options));
    return {alone};
  }
  // others are refused by join, and need not be started
  if (options.transport == "mpi") static_cast<void>(start(options));
  std::shared_ptr<team> ranks;
  {
    const without_python unlocked;
    ranks = join(options);
  }
  const rank_team all = joined(std::move(ranks));
  state.world = all.members;
  return all;
}

rank_team team_or_world(nb::handle team) {
  if (team.is_none()) return world();
  rank_team mine;
  if (nb::try_cast(team, mine)) return mine;
  throw nb::type_error(
      fmt::format("team: a Team is needed, as main gets from run(), or world() gives; got {}",
                  nb::cast<std::string>(nb::str(team.type().attr("__name__"))))
          .c_str());
}

void bind_run(nb::module_& module) {
  module.def("run", &run_ranks, "main"_a, "ranks"_a = nb::none(), nb::kw_only(),
             "args"_a = nb::make_tuple(), "transport"_a = nb::none(),
             "ranks_per_node"_a = nb::none(), "timeout"_a = nb::none(),
             nb::sig("def run(main: collections.abc.Callable[typing.Concatenate[Team, ...], T], "
                     "ranks: int | None = None, *, "
                     "args: tuple[typing.Any, ...] = (), "
                     "transport: str | None = None, ranks_per_node: int | None = None, timeout: "
                     "float | None = None) -> T"),
             R"(Run ``main(team, *args)`` once on every rank, and return when all have ended.

Ranks are threads of this process, ``ranks`` of them (else LONGSHORE_RANKS, else all cores); under an MPI
launcher they are processes, and the launcher has said how many: the same script, unchanged.

The result is what main returned on rank 0; of processes, each gets what its own rank returned. The first exception of any rank
ends the run: on threads it is raised here, of processes all end with status 3.
``ranks_per_node`` makes virtual nodes, ``timeout`` is the deadline of every wait in seconds (300; 0: none).

>>> longshore.run(lambda team: team.allreduce(team.rank), ranks=4)
6
)");
  module.def(
      "world", &world,
      R"(The team of this rank: inside run() that of the run; outside it that of all processes under an
MPI launcher, else this thread alone, so that a notebook needs no run().

>>> longshore.world().size
1
)");
  module.def("_join", &join_comm, "comm"_a, "ranks_per_node"_a = nb::none(),
             "timeout"_a = nb::none());
  module.def("_end_all", &end_all);
  module.def("transports", &available_transports, R"(Names of the transports of this build.

>>> 'threads' in longshore.transports()
True
)");
  membership::count_generations();
  turn_to_ask::prepare();
  nb::module_::import_("atexit").attr("register")(module.attr("_end_all"));
}

}  // namespace longshore::python
