// Makes the simulated machine, and a team for each of its ranks.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/transport_entry.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/simulated/detail/library.hpp>

namespace longshore::simulated {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 10;

// Runs `body` on options.ranks simulated ranks (by default all of the machine), in this thread.
// Returns when all ranks have ended; rethrows the first failure. The file options.machine describes
// the machine.
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

class simulated_machine final : public longshore::detail::started_transport {
  void run(const run_options& options, const std::function<void(longshore::team&)>& body) override {
    simulated::run(options, body);
  }
};

}  // namespace
}  // namespace longshore::simulated

const longshore::detail::transport_entry entry_of_longshore_simulated = {
    .start =
        [](const longshore::run_options&) -> std::unique_ptr<longshore::detail::started_transport> {
      return std::make_unique<longshore::simulated::simulated_machine>();
    },
    .check_machine_file =
        [](const std::string& file) {
          static_cast<void>(longshore::simulated::read_machine(file));
        }};
