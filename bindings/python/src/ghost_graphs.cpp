// The class GhostGraph of Python: reads the elements and the ghosts of a rank.
#include "ghost_graphs.hpp"

#include "arrays.hpp"
#include "gil.hpp"
#include "python_number.hpp"
#include "rank_team.hpp"
#include "read_on_all_ranks.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <limits>
#include <optional>
#include <string>

namespace longshore::python {
namespace {

using namespace nb::literals;

constexpr std::array index_types = {element::int64};
constexpr std::array integer_types = {element::int32, element::int64};

array_to_read vector_of(nb::handle given, const char* what, std::span<const element> types) {
  auto memory = contiguous_for_reading(given, what, types);
  if (memory.shape.size() != 1)
    fail(errc::usage, "{}: an array of {} dimensions: give an array of one dimension", what,
         memory.shape.size());
  return memory;
}

std::span<const std::int64_t> indices_of(const array_to_read& array) {
  return {reinterpret_cast<const std::int64_t*>(array.data), array.items};
}

// The ghosts of a rank. The arrays stay in memory as long as this object.
class ghost_list {
 public:
  ghost_list(nb::handle ghosts, nb::handle ranks)
      : numbers_(vector_of(ghosts, "ghosts", index_types)) {
    if (ranks.is_none()) return;
    const auto owners = integers_of(ranks, "ranks");
    if (owners.size() != numbers_.items)
      fail(errc::usage, "{} ranks for {} ghosts: give the owner of each ghost", owners.size(),
           numbers_.items);
    for (const std::int64_t rank : owners)
      owners_.push_back(rank == static_cast<int>(rank) ? static_cast<int>(rank) : -1);
  }
  [[nodiscard]] std::span<const std::int64_t> indices() const { return indices_of(numbers_); }
  [[nodiscard]] std::span<const int> owners() const { return owners_; }
  // A negative element becomes an element beyond every table. The graph refuses it on all ranks.
  [[nodiscard]] std::vector<location> pairs() const {
    std::vector<location> pairs;
    for (std::size_t i = 0; i < owners_.size(); ++i)
      pairs.push_back({owners_[i], static_cast<std::uint64_t>(indices()[i])});
    return pairs;
  }

 private:
  array_to_read numbers_;
  std::vector<int> owners_;
};

void make_graph(rank_graph* self, nb::handle team, nb::handle owned, nb::handle ghosts,
                nb::handle ranks) {
  const rank_team mine = team_or_world(team);
  auto& all_ranks = mine.ranks();
  const bool has_ranks = !ranks.is_none(), is_count = PyLong_Check(plain_number(owned).ptr()) != 0;
  std::optional<array_to_read> ids;
  std::optional<ghost_list> list;
  std::uint64_t count = 0;
  common_arguments same;
  same.add("ranks", has_ranks ? "yes" : "no")
      .add("owned as", is_count ? "a number" : "an array of indices");
  read_on_all_ranks(all_ranks, "GhostGraph", same, [&] {
    if (is_count)
      count = static_cast<std::uint64_t>(
          whole_number(owned, "owned", 0, std::numeric_limits<std::int64_t>::max()));
    else
      ids = vector_of(owned, "owned", index_types);
    list.emplace(ghosts, ranks);
  });
  std::shared_ptr<kept_graph> kept;
  {
    const release_gil unlocked;
    mine.owner->free_dropped();
    kept = std::make_shared<kept_graph>(
        is_count && has_ranks ? ghost_graph(all_ranks, count, list->pairs())
        : is_count            ? ghost_graph(all_ranks, count, list->indices())
        : has_ranks ? ghost_graph(all_ranks, indices_of(*ids), list->indices(), list->owners())
                    : ghost_graph(all_ranks, indices_of(*ids), list->indices()));
    mine.owner->keep(kept);
  }
  const std::size_t elements = kept->value().owned(), copies = kept->value().ghosts();
  new (self) rank_graph{{mine.owner, std::move(kept)}, has_ranks, !is_count, elements, copies};
}

rank_graph remade(const rank_graph& self, nb::handle ghosts, nb::handle ranks) {
  const ghost_graph& graph = self.graph();
  if (ranks.is_none() == self.has_ranks)
    fail(errc::usage, "remade: give ghosts in the form of the graph, {}",
         !self.has_ranks ? "by indices without ranks"
         : self.has_ids  ? "by ranks and indices"
                         : "by ranks and elements");
  const ghost_list list(ghosts, ranks);
  const auto owner = self.kept.shared_owner();
  std::shared_ptr<kept_graph> kept;
  {
    const release_gil unlocked;
    owner->free_dropped();
    kept = std::make_shared<kept_graph>(!self.has_ranks ? graph.remade(list.indices())
                                        : self.has_ids ? graph.remade(list.indices(), list.owners())
                                                       : graph.remade(list.pairs()));
    owner->keep(kept);
  }
  const std::size_t copies = kept->value().ghosts();
  return {{owner, std::move(kept)}, self.has_ranks, self.has_ids, self.owned, copies};
}

template <class Number>
nb::object array_of(std::span<const Number> numbers, element type) {
  nb::object array = new_array({numbers.size()}, type);
  std::copy(numbers.begin(), numbers.end(),
            reinterpret_cast<std::int64_t*>(contiguous_for_writing(array, "result").data));
  return array;
}

nb::object needed_by(const rank_graph& self, nb::handle reader) {
  const ghost_graph& graph = self.graph();
  const auto rank = whole_number(reader, "reader", 0, self.kept.owner().size() - 1);
  const auto needed = graph.needed_by(static_cast<int>(rank));
  return array_of(std::span<const std::uint32_t>(needed), element::int64);
}

nb::tuple locations(const rank_graph& self) {
  std::vector<std::int64_t> ranks, elements;
  for (const auto& [rank, offset] : self.graph().locations()) {
    ranks.push_back(rank);
    elements.push_back(static_cast<std::int64_t>(offset));
  }
  return nb::make_tuple(array_of(std::span<const std::int64_t>(ranks), element::int64),
                        array_of(std::span<const std::int64_t>(elements), element::int64));
}

std::string text_of(const rank_graph& self) {
  return fmt::format("<longshore.GhostGraph: {} elements and {} ghosts on rank {} of {}>",
                     self.owned, self.ghosts, self.kept.owner().rank(), self.kept.owner().size());
}

}  // namespace

std::vector<std::int64_t> integers_of(nb::handle array, const char* what) {
  const auto memory = vector_of(array, what, integer_types);
  const auto all = [&](const auto* first) {
    return std::vector<std::int64_t>(first, first + memory.items);
  };
  return memory.type == element::int32 ? all(reinterpret_cast<const std::int32_t*>(memory.data))
                                       : all(reinterpret_cast<const std::int64_t*>(memory.data));
}

const rank_graph& graph_of(nb::handle graph) {
  if (!nb::isinstance<rank_graph>(graph)) throw nb::type_error("graph: a GhostGraph is needed");
  return nb::cast<const rank_graph&>(graph);
}

void bind_ghost_graph(nb::module_& module) {
  nb::class_<rank_graph>(module, "GhostGraph",
                         R"(Which rank needs which elements of which rank.

Collective. A rank owns elements, numbered from 0, and has ghosts: copies of elements that other
ranks own. If the arguments of any rank are wrong, all ranks raise UsageError, which names the rank
and the index.

owned: the number of elements of this rank. Global indices number the elements of rank 0 first, then
    those of rank 1, and so on. Or an array of the global indices of this rank's elements: any
    numbers that are not negative.
ghosts: the global indices of the ghosts, in any order. An array of int64.
ranks: the owners of the ghosts, if the program knows them. If ``owned`` is a number, ``ghosts`` are
    then numbers of elements at these ranks. If ``owned`` is an array, ``ghosts`` are global indices,
    and the ranks ask the owners where the elements are. Indices need to be unique only within a
    rank.

>>> graph = longshore.GhostGraph(None, 3, np.array([2, 0]))
>>> x = np.array([5.0, 6.0, 7.0, 0.0, 0.0])
>>> longshore.Ghost(graph, x).update()
>>> x.tolist()
[5.0, 6.0, 7.0, 7.0, 5.0])")
      .def("__init__", &make_graph, "team"_a.none(), "owned"_a, "ghosts"_a, nb::kw_only(),
           "ranks"_a = nb::none(),
           nb::sig("def __init__(self, team: Team | None, owned: int | numpy.ndarray, ghosts: "
                   "numpy.ndarray, *, ranks: numpy.ndarray | None = None) -> None"),
           "Collective. The arguments are those of the class.")
      .def("remade", &remade, "ghosts"_a, nb::kw_only(), "ranks"_a = nb::none(),
           nb::sig("def remade(self, ghosts: numpy.ndarray, *, ranks: numpy.ndarray | None = None) "
                   "-> GhostGraph"),
           "Collective. A graph with other ghosts of the same elements, given in the same form. "
           "Cheap when few ghosts change.")
      .def_prop_ro(
          "owned", [](const rank_graph& self) { return self.owned; },
          "The number of elements that this rank owns.")
      .def_prop_ro(
          "ghosts", [](const rank_graph& self) { return self.ghosts; },
          "The number of ghosts of this rank.")
      .def_prop_ro("locations", &locations,
                   nb::sig("def locations(self) -> tuple[numpy.ndarray, numpy.ndarray]"),
                   "The owners of the ghosts of this rank, and the numbers of the elements there.")
      .def_prop_ro(
          "owners",
          [](const rank_graph& self) { return array_of(self.graph().owners(), element::int64); },
          nb::sig("def owners(self) -> numpy.ndarray"),
          "The other ranks that own ghosts of this rank, ascending.")
      .def_prop_ro(
          "readers",
          [](const rank_graph& self) { return array_of(self.graph().readers(), element::int64); },
          nb::sig("def readers(self) -> numpy.ndarray"),
          "The other ranks that have ghosts of this rank's elements, ascending.")
      .def("needed_by", &needed_by, "reader"_a,
           nb::sig("def needed_by(self, reader: int) -> numpy.ndarray"),
           "The elements of this rank that are ghosts on rank ``reader``, in the order of its "
           "ghosts.")
      .def_prop_ro(
          "memory_bytes", [](const rank_graph& self) { return self.graph().memory_bytes(); },
          "The memory of the graph on this rank.")
      .def("__repr__", [](const rank_graph& self) { return text_of(self); });
}

}  // namespace longshore::python
