// Makes the simulated machine, and a team for each of its ranks.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/simulated/detail/library.hpp>
#include <longshore/transport/simulated/run.hpp>

namespace longshore::simulated {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

}  // namespace

void run(const run_options& given, const std::function<void(longshore::team&)>& body) {
  run_options options = with_environment(given);
  if (options.machine.empty())
    fail(errc::usage,
         "transport simulated needs a machine: name a machine file (--machine FILE, "
         "LONGSHORE_MACHINE)");
  machine described = read_machine(options.machine);
  // A number of ranks per node that the user gives replaces that of the file.
  if (*options.ranks_per_node > 0) described.ranks_per_node = *options.ranks_per_node;
  options.ranks_per_node = 0;
  const long most = static_cast<long>(described.nodes) * described.ranks_per_node;
  const int ranks = options.ranks > 0 ? options.ranks : static_cast<int>(most);
  if (ranks > most)
    fail(errc::usage, "{} ranks: machine {} of {} has {} nodes of {} ranks, so at most {}", ranks,
         described.name, described.file, described.nodes, described.ranks_per_node, most);
  world shared(described, ranks, stack_bytes);
  shared.events.run(shared.messages, [&](int rank) {
    library lib(shared, rank);
    const auto team = one_sided::team::make(lib, options);
    body(*team);
    team->checked_barrier({one_sided::collective::end_of_run});
  });
}

}  // namespace longshore::simulated
