// Checks the arguments of a plan, and writes the programs of its strategy.
#include <longshore/ghost/detail/ghost_plan.hpp>

#include <longshore/core/error.hpp>
#include <longshore/ghost/detail/node_aware.hpp>

#include <fmt/core.h>

#include <optional>

namespace longshore::detail {
namespace {

common_arguments arguments_of(const ghost_options& options, std::span<const ghost_memory> fields) {
  common_arguments same;
  same.add("strategy", name_of(options.strategy))
      .add("updates", options.updates ? "yes" : "no")
      .add("accumulates", options.accumulates ? "yes" : "no")
      .add("fields:", fields.size());
  for (const auto& field : fields)
    same.add("a field of",
             fmt::format("{} ({} bytes)", field.type != nullptr ? field.type->name() : "no type",
                         field.element_bytes));
  return same;
}

void check_fields(const ghost_graph& graph, const ghost_options& options,
                  std::span<const ghost_memory> fields) {
  const int rank = graph.ranks().rank();
  if (!options.updates && !options.accumulates)
    fail(errc::usage, "a ghost plan on rank {} is made for no operation", rank);
  if (auto reason = why_not(options.strategy, graph.ranks()))
    fail(errc::unsupported, "{}", *reason);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& field = fields[f];
    if (field.element_bytes == 0 || field.type == nullptr)
      fail(errc::usage, "the {} field of a ghost exchange on rank {} has no type", nth(f), rank);
    if (field.owned == nullptr && graph.owned() > 0)
      fail(errc::usage, "the {} field on rank {} has no memory for {} owned elements", nth(f), rank,
           graph.owned());
    if (field.ghosts == nullptr && graph.ghosts() > 0)
      fail(errc::usage, "the {} field on rank {} has no memory for {} ghosts", nth(f), rank,
           graph.ghosts());
    const auto check_places = [&](const auto& places, std::size_t elements, const char* what) {
      if (places && places->size() != elements)
        fail(errc::usage, "the {} field on rank {} has {} places for {} {}", nth(f), rank,
             places->size(), elements, what);
    };
    check_places(field.owned_places, graph.owned(), "owned elements");
    check_places(field.ghost_places, graph.ghosts(), "ghosts");
  }
}

carrier carrier_of(ghost_strategy strategy) {
  switch (strategy) {
    case ghost_strategy::standard: return carrier::channels;
    case ghost_strategy::mpi_waitall: return carrier::mpi_waitall;
    case ghost_strategy::mpi_persistent: return carrier::mpi_persistent;
    case ghost_strategy::mpi_neighbor: return carrier::mpi_neighbor;
    default: return carrier::direct;
  }
}

// Returns whether a plan has gateways. On a single node, node-aware strategies are like direct.
bool is_node_aware(ghost_strategy strategy, const team& ranks) {
  return (strategy == ghost_strategy::node_aware_2 || strategy == ghost_strategy::node_aware) &&
         ranks.nodes().node_count() > 1;
}

// Returns programs in which each pair of ranks has one message.
std::vector<exchange_program> direct_programs(const ghost_links& links,
                                              const ghost_options& options,
                                              std::size_t element_bytes) {
  const int me = links.ranks().rank();
  copy_links copies(me, options.accumulates, options.updates);
  for (const auto& link : links.to_readers())
    copies.add({link.rank, ghost_memory_number, link.ghosts}, {me, owned_memory, link.owned},
               element_bytes);
  for (const auto& link : links.to_owners())
    if (link.rank != me)
      copies.add({me, ghost_memory_number, link.ghosts}, {link.rank, owned_memory, link.owned},
                 element_bytes);
  return std::move(copies).programs();
}

}  // namespace

rank_memories memories_of(std::span<const ghost_memory> fields) {
  rank_memories memories(2);
  const auto places = [](const auto& list) { return list ? list->data() : nullptr; };
  for (const auto& field : fields) {
    const int number = static_cast<int>(memories[owned_memory].size());
    memories[owned_memory].push_back({field.owned, field.owned_stride_bytes, field.element_bytes,
                                      number, places(field.owned_places)});
    memories[ghost_memory_number].push_back({field.ghosts, field.ghost_stride_bytes,
                                             field.element_bytes, number,
                                             places(field.ghost_places)});
  }
  return memories;
}

plan_arguments check_ghost_plan(const ghost_graph& graph, const ghost_options& options,
                                std::span<const ghost_memory> fields) {
  plan_arguments arguments("a ghost plan", arguments_of(options, fields));
  arguments.attempt([&] { check_fields(graph, options, fields); });
  return arguments;
}

std::unique_ptr<exchange_plan> make_ghost_plan(const ghost_links& links, ghost_strategy strategy,
                                               const ghost_options& options,
                                               std::span<const ghost_memory> fields,
                                               plan_arguments arguments) {
  team& ranks = links.ranks();
  plan_setup setup{.name = "ghost", .by = carrier_of(strategy), .neighbours = links.neighbours()};
  for (const auto& field : fields) setup.types.push_back(field.type);
  setup.memory = std::make_unique<plan_memory>(
      ranks, memories_of(fields), std::vector<std::size_t>{links.owned(), links.ghosts()});
  setup.programs =
      direct_programs(links, options, element_bytes_of(setup.memory->memories()[owned_memory]));
  std::optional<node_aware_planner> node_aware;
  if (is_node_aware(strategy, ranks)) {
    const auto settle = [&](const agreed_numbers& largest) { arguments.agree(ranks, largest); };
    if (messenger::has_channels(ranks)) {  // opening channels is collective
      setup.neighbours->agree(arguments.numbers(), settle);
      arguments = {};
    }
    node_aware.emplace(links, strategy == ghost_strategy::node_aware_2 ? 2 : 3, options);
    setup.neighbours = node_aware->node_messenger();
    auto requests = setup.neighbours->exchange(node_aware->requests(), arguments.numbers(), settle);
    arguments = {};
    auto programs = node_aware->plan(std::move(requests));
    setup.programs[program_update].rounds = std::move(programs.update);
    setup.programs[program_accumulate].rounds = std::move(programs.accumulate);
    arguments.attempt([&] { setup.memory->add_buffers(programs.buffer_elements); });
    setup.attachments = node_aware->places();
    setup.complete = [&](std::span<exchange_program> all,
                         std::vector<std::vector<std::byte>> places) {
      node_aware->complete(all[program_update], all[program_accumulate], std::move(places));
    };
  }
  return std::make_unique<exchange_plan>(ranks, std::move(setup), std::move(arguments));
}

}  // namespace longshore::detail
