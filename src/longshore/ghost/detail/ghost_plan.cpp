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

std::size_t elements_of(std::span<const ghost_link> links) {
  std::size_t elements = 0;
  for (const auto& link : links) elements += link.owned.size();
  return elements;
}

}  // namespace

exchange_program direct_update(const ghost_links& links) {
  exchange_round round;
  for (const auto& link : links.to_readers())
    if (link.rank != links.ranks().rank())
      round.outgoing.push_back({link.rank, {{owned_memory, link.owned}}});
  for (const auto& link : links.to_owners())
    round.incoming.push_back(
        {link.rank, {{ghost_memory_number, link.ghosts, owned_memory, link.owned, link.rank}}});
  return {{std::move(round)}};
}

exchange_program direct_accumulate(const ghost_links& links) {
  exchange_round round{.combines = true};
  for (const auto& link : links.to_owners())
    if (link.rank != links.ranks().rank())
      round.outgoing.push_back({link.rank, {{ghost_memory_number, link.ghosts}}});
  for (const auto& link : links.to_readers())
    round.incoming.push_back(
        {link.rank, {{owned_memory, link.owned, ghost_memory_number, link.ghosts, link.rank}}});
  return {{std::move(round)}};
}

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
  setup.programs.resize(2);
  auto& update = setup.programs[static_cast<std::size_t>(ghost_operation::update)];
  auto& accumulate = setup.programs[static_cast<std::size_t>(ghost_operation::accumulate)];
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
    update = std::move(programs.update);
    accumulate = std::move(programs.accumulate);
    arguments.attempt([&] { setup.memory->add_buffers(programs.buffer_elements); });
    setup.attachments = node_aware->places();
    setup.complete = [&](std::span<exchange_program> all,
                         std::vector<std::vector<std::byte>> places) {
      node_aware->complete(all[0], all[1], std::move(places));
    };
  } else {
    if (options.updates) update = direct_update(links);
    if (options.accumulates) accumulate = direct_accumulate(links);
  }
  const std::size_t bytes = element_bytes_of(setup.memory->memories()[owned_memory]);
  update.payload_bytes = elements_of(links.to_readers()) * bytes;
  accumulate.payload_bytes = elements_of(links.to_owners()) * bytes;
  return std::make_unique<exchange_plan>(ranks, std::move(setup), std::move(arguments));
}

}  // namespace longshore::detail
