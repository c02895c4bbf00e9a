// Functions longshore_ghost_graph_... and longshore_ghost_...: checks what the program gives and
// calls longshore::ghost_graph and longshore::ghost_exchange.
#include "exchanges.hpp"
#include "longshore.h"
#include "memory.hpp"

#include <longshore/ghost/ghost_exchange.hpp>

#include <limits>
#include <optional>
#include <tuple>
#include <utility>

using namespace longshore;
using namespace longshore::bindings;

struct longshore_ghost_graph final : resource {
  longshore_ghost_graph(longshore_team& owner, ghost_graph made)
      : resource(owner, "ghost graph"), graph(std::move(made)) {}
  ghost_graph graph;
};

namespace {

// What the program gives as fields.
struct field_list {
  std::vector<ghost_memory> memory;
  std::vector<longshore_ghost_field> given;
  std::vector<const resource*> dependencies;  // memory of longshore_memory_create
};

}  // namespace

struct longshore_ghost final : resource {
  longshore_ghost(longshore_team& owner, field_list list, const ghost_graph& graph,
                  const ghost_options& options)
      : resource(owner, "ghost plan", std::move(list.dependencies)),
        fields(std::move(list.given)),
        plan(graph, options, list.memory) {}
  void bind(field_list list) {
    plan.rebind(list.memory);
    keep(std::move(list));
  }
  void remake(const ghost_graph& graph, field_list list) {
    plan.remake(graph, list.memory);
    keep(std::move(list));
  }
  void keep(field_list list) {
    fields = std::move(list.given);
    depend_on(std::move(list.dependencies));
  }
  std::vector<longshore_ghost_field> fields;  // the program may have freed their places
  ghost_exchange plan;
  bool in_flight = false;
  void complete() override { complete_operation(*this); }
};

namespace {

std::span<const std::int64_t> indices_from(const std::int64_t* indices, std::int64_t count,
                                           const char* number, const char* array) {
  const std::size_t size = count_from(count, number);
  if (size > 0) required(indices, array);
  return {indices, size};
}

std::span<const std::int64_t> ghosts_from(const std::int64_t* ghosts, std::int64_t count) {
  return indices_from(ghosts, count, "the number of ghosts", "the array of ghosts");
}

// Replaces a negative element by an element beyond every table. The graph refuses it on all ranks.
std::vector<location> pairs_from(const int* ranks, const std::int64_t* elements,
                                 std::int64_t count) {
  const auto numbers =
      indices_from(elements, count, "the number of ghosts", "the array of elements");
  if (!numbers.empty()) required(ranks, "the array of ranks");
  std::vector<location> pairs(numbers.size());
  for (std::size_t i = 0; i < pairs.size(); ++i)
    pairs[i] = {ranks[i], static_cast<std::uint64_t>(numbers[i])};
  return pairs;
}

std::span<const int> ranks_from(const int* ranks, std::int64_t count) {
  const std::size_t size = count_from(count, "the number of ghosts");
  if (size > 0) required(ranks, "the array of ranks");
  return {ranks, size};
}

// `read` returns a tuple: the number or the ids of this rank's elements, its ghosts, and their owners
// if they are given apart. Stores the handle of the graph.
template <class Read>
int create_graph(longshore_team* team, longshore_ghost_graph** graph, const Read& read) {
  return guarded([&] {
    longshore_team& owner = checked(team);
    const auto given = read_on_all_ranks(owner, "a ghost graph", [&] {
      required(graph, "the pointer for the graph") = nullptr;
      return read();
    });
    *graph = owner.keep(std::make_unique<longshore_ghost_graph>(
        owner, std::apply([&](const auto&... parts) { return ghost_graph(owner.ranks, parts...); },
                          given)));
  });
}

// `read` returns a tuple: the ghosts, and their owners if they are given apart.
template <class Read>
int remake_graph(const longshore_ghost_graph* graph, longshore_ghost_graph** remade,
                 const Read& read) {
  return guarded([&] {
    required(remade, "the pointer for the remade graph") = nullptr;
    longshore_team& owner = checked(graph, "the graph").team();
    *remade = owner.keep(std::make_unique<longshore_ghost_graph>(
        owner,
        std::apply([&](const auto&... given) { return graph->graph.remade(given...); }, read())));
  });
}

const int* ranks_in(std::span<const int> ranks, int* count) {
  if (count != nullptr) *count = static_cast<int>(ranks.size());
  return ranks.data();
}

ghost_memory memory_of(const longshore_ghost_field& field, const ghost_graph& graph) {
  const element_form form = form_of(field.type, field.items, field.element_bytes);
  if (graph.owned() > 0) required(static_cast<std::byte*>(field.owned), "the memory of a field");
  if (graph.ghosts() > 0)
    required(static_cast<std::byte*>(field.ghosts), "the memory for the ghosts of a field");
  const auto stride = [&](std::int64_t given) {
    return given == 0 ? static_cast<std::ptrdiff_t>(form.bytes)
                      : static_cast<std::ptrdiff_t>(given);
  };
  const auto places = [](const std::int64_t* given, std::size_t count) {
    return given == nullptr ? nullptr : detail::places_from(std::span(given, count));
  };
  return {.owned = static_cast<std::byte*>(field.owned),
          .ghosts = static_cast<std::byte*>(field.ghosts),
          .element_bytes = form.bytes,
          .owned_stride_bytes = stride(field.owned_stride_bytes),
          .ghost_stride_bytes = stride(field.ghost_stride_bytes),
          .type = form.type,
          .owned_places = places(field.owned_places, graph.owned()),
          .ghost_places = places(field.ghost_places, graph.ghosts())};
}

field_list fields_from(const longshore_team& owner, const longshore_ghost_field* fields, int count,
                       const ghost_graph& graph) {
  if (count < 0) fail(errc::usage, "a ghost plan for {} fields: use 0 or more", count);
  if (count > 0) required(fields, "the array of fields");
  field_list list;
  for (int i = 0; i < count; ++i) {
    list.given.push_back(fields[i]);
    list.memory.push_back(memory_of(fields[i], graph));
    for (const void* const address : {fields[i].owned, fields[i].ghosts})
      if (const longshore_memory* const memory = find_memory(owner, address))
        list.dependencies.push_back(memory);
  }
  return list;
}

bool is_wanted(int choice, const char* option) {
  if (choice < -1 || choice > 1)
    fail(errc::usage, "option {} of a ghost plan is {}: use -1 for no, 0 or 1 for yes", option,
         choice);
  return choice >= 0;
}

ghost_options options_of(const longshore_ghost_options* given) {
  ghost_options options;
  if (given == nullptr) return options;
  check_reserved(given->reserved, "longshore_ghost_options");
  options.strategy = from_name<ghost_strategy>(text_or(given->strategy, name_of(options.strategy)));
  options.updates = is_wanted(given->updates, "updates");
  options.accumulates = is_wanted(given->accumulates, "accumulates");
  return options;
}

int start_update(longshore_ghost* plan, bool waits, std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](longshore_ghost& of) { of.plan.start_update(stream); });
}

int start_accumulate(longshore_ghost* plan, bool waits, const combine_choice& how,
                     std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](longshore_ghost& of) {
    of.plan.start_accumulate(ops_for(how, of.fields), stream);
  });
}

int start_assemble(longshore_ghost* plan, bool waits, const combine_choice& how,
                   std::optional<device_stream> stream = {}) {
  return start_operation(plan, waits, [&](longshore_ghost& of) {
    of.plan.start_assemble(ops_for(how, of.fields), stream);
  });
}

}  // namespace

extern "C" {

int longshore_ghost_graph_create(longshore_team* team, int64_t owned, const int64_t* ghosts,
                                 int64_t count, longshore_ghost_graph** graph) {
  return create_graph(team, graph, [&] {
    return std::pair(count_from(owned, "the number of owned elements"), ghosts_from(ghosts, count));
  });
}

int longshore_ghost_graph_create_ids(longshore_team* team, const int64_t* ids, int64_t owned,
                                     const int64_t* ghosts, int64_t count,
                                     longshore_ghost_graph** graph) {
  return create_graph(team, graph, [&] {
    return std::pair(indices_from(ids, owned, "the number of owned elements", "the array of ids"),
                     ghosts_from(ghosts, count));
  });
}

int longshore_ghost_graph_create_pairs(longshore_team* team, int64_t owned, const int* ranks,
                                       const int64_t* elements, int64_t count,
                                       longshore_ghost_graph** graph) {
  return create_graph(team, graph, [&] {
    return std::pair(count_from(owned, "the number of owned elements"),
                     pairs_from(ranks, elements, count));
  });
}

int longshore_ghost_graph_create_owners(longshore_team* team, const int64_t* ids, int64_t owned,
                                        const int* ranks, const int64_t* ghosts, int64_t count,
                                        longshore_ghost_graph** graph) {
  return create_graph(team, graph, [&] {
    return std::tuple(indices_from(ids, owned, "the number of owned elements", "the array of ids"),
                      ghosts_from(ghosts, count), ranks_from(ranks, count));
  });
}

int longshore_ghost_graph_remake(const longshore_ghost_graph* graph, const int64_t* ghosts,
                                 int64_t count, longshore_ghost_graph** remade) {
  return remake_graph(graph, remade, [&] { return std::tuple(ghosts_from(ghosts, count)); });
}

int longshore_ghost_graph_remake_owners(const longshore_ghost_graph* graph, const int* ranks,
                                        const int64_t* ghosts, int64_t count,
                                        longshore_ghost_graph** remade) {
  return remake_graph(graph, remade, [&] {
    return std::tuple(ghosts_from(ghosts, count), ranks_from(ranks, count));
  });
}

int longshore_ghost_graph_remake_pairs(const longshore_ghost_graph* graph, const int* ranks,
                                       const int64_t* elements, int64_t count,
                                       longshore_ghost_graph** remade) {
  return remake_graph(graph, remade,
                      [&] { return std::tuple(pairs_from(ranks, elements, count)); });
}

int longshore_ghost_graph_copy(const longshore_ghost_graph* graph, longshore_ghost_graph** copy) {
  return guarded([&] {
    required(copy, "the pointer for the copy") = nullptr;
    longshore_team& owner = checked(graph, "the graph").team();
    *copy = owner.keep(std::make_unique<longshore_ghost_graph>(owner, graph->graph));
  });
}

int longshore_ghost_graph_free(longshore_ghost_graph* graph) { return free_object(graph); }

int64_t longshore_ghost_graph_owned(const longshore_ghost_graph* graph) {
  return static_cast<int64_t>(existing(graph, "the graph").graph.owned());
}

int64_t longshore_ghost_graph_ghosts(const longshore_ghost_graph* graph) {
  return static_cast<int64_t>(existing(graph, "the graph").graph.ghosts());
}

int longshore_ghost_graph_locations(const longshore_ghost_graph* graph, int* ranks,
                                    int64_t* elements) {
  return guarded([&] {
    for (const auto& [rank, element] : checked(graph, "the graph").graph.locations()) {
      if (ranks != nullptr) *ranks++ = rank;
      if (elements != nullptr) *elements++ = static_cast<int64_t>(element);
    }
  });
}

const int* longshore_ghost_graph_owners(const longshore_ghost_graph* graph, int* count) {
  return ranks_in(existing(graph, "the graph").graph.owners(), count);
}

const int* longshore_ghost_graph_readers(const longshore_ghost_graph* graph, int* count) {
  return ranks_in(existing(graph, "the graph").graph.readers(), count);
}

int longshore_ghost_graph_needed_by(const longshore_ghost_graph* graph, int reader,
                                    int64_t* elements, int64_t* count) {
  return guarded([&] {
    const int ranks = checked(graph, "the graph").team().ranks.size();
    required(count, "the pointer for the number of elements");
    if (reader < 0 || reader >= ranks)
      fail(errc::usage, "the elements that rank {} needs: the ranks are 0 to {}", reader,
           ranks - 1);
    const auto needed = graph->graph.needed_by(reader);
    *count = static_cast<int64_t>(needed.size());
    if (elements != nullptr) std::copy(needed.begin(), needed.end(), elements);
  });
}

int64_t longshore_ghost_graph_memory_bytes(const longshore_ghost_graph* graph) {
  return static_cast<int64_t>(existing(graph, "the graph").graph.memory_bytes());
}

int longshore_ghost_create(const longshore_ghost_graph* graph,
                           const struct longshore_ghost_options* options,
                           const struct longshore_ghost_field* fields, int count,
                           longshore_ghost** plan) {
  return guarded([&] {
    longshore_team& owner = checked(graph, "the graph").team();
    auto [list, chosen] = read_on_all_ranks(owner, "a ghost plan", [&] {
      required(plan, "the pointer for the plan") = nullptr;
      return std::pair(fields_from(owner, fields, count, graph->graph), options_of(options));
    });
    *plan =
        owner.keep(std::make_unique<longshore_ghost>(owner, std::move(list), graph->graph, chosen));
  });
}

LONGSHORE_CALLS_THAT_END(ghost)
LONGSHORE_CALLS_THAT_COMBINE(ghost, accumulate)
LONGSHORE_CALLS_THAT_COMBINE(ghost, assemble)

int longshore_ghost_remake(longshore_ghost* plan, const longshore_ghost_graph* graph,
                           const struct longshore_ghost_field* fields, int count) {
  return guarded([&] {
    const longshore_team& owner = checked(plan, "the plan").team();
    const ghost_graph& next = checked(graph, "the graph").graph;
    if (fields != nullptr && count != static_cast<int>(plan->fields.size()))
      fail(errc::usage, "a ghost plan of {} fields is remade with {} fields", plan->fields.size(),
           count);
    if (fields != nullptr)
      plan->remake(next, fields_from(owner, fields, count, next));
    else
      plan->plan.remake(next);
  });
}

int longshore_ghost_rebind(longshore_ghost* plan, const struct longshore_ghost_field* fields,
                           int count) {
  return guarded([&] {
    longshore_team& owner = checked(plan, "the plan").team();
    const auto read = [&] { return fields_from(owner, fields, count, plan->plan.graph()); };
    const bool is_made = !plan->fields.empty();  // else this call is collective
    plan->bind(is_made ? read() : read_on_all_ranks(owner, "a ghost plan", read));
  });
}

int longshore_ghost_start_update(longshore_ghost* plan) { return start_update(plan, false); }
int longshore_ghost_update(longshore_ghost* plan) { return start_update(plan, true); }

int longshore_ghost_start_update_on(longshore_ghost* plan, void* stream) {
  return start_update(plan, false, stream);
}

const char* longshore_ghost_strategy(const longshore_ghost* plan) {
  return name_of(existing(plan, "the plan").plan.strategy()).data();
}

int longshore_ghost_neighbours(const longshore_ghost* plan) {
  return static_cast<int>(existing(plan, "the plan").plan.neighbours());
}

int64_t longshore_ghost_memory_bytes(const longshore_ghost* plan) {
  return static_cast<int64_t>(existing(plan, "the plan").plan.memory_bytes());
}

int longshore_ghost_moved(const longshore_ghost* plan, const char* operation,
                          struct longshore_traffic* moved) {
  return guarded([&] {
    const std::string_view name = text_or(operation, "update");
    if (name != "update" && name != "accumulate")
      fail(errc::usage, "the traffic of operation '{}': allowed are update, accumulate", name);
    const auto which = name == "update" ? ghost_operation::update : ghost_operation::accumulate;
    const traffic bytes = checked(plan, "the plan").plan.moved(which);
    required(moved, "the pointer for the traffic") = traffic_of(bytes);
  });
}
}
