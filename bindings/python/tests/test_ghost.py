"""Ghost exchanges, compared with the elements and the ghosts of all ranks in NumPy."""

from __future__ import annotations

import gc
from typing import Any

import longshore
import numpy as np
import pytest

RANKS = [1, 2, 3, 4, 7]
STRATEGIES = ["direct", "standard", "node-aware-2", "node-aware", "auto"]
DTYPES = ["int8", "uint16", "int32", "int64", "float32", "float64", "complex64", "complex128"]


def owned_by(rank: int) -> int:
    """The number of elements of a rank; rank 2 has none."""
    return 0 if rank == 2 else 3 + rank % 3


def first_of(rank: int) -> int:
    return sum(owned_by(r) for r in range(rank))


def ghosts_of(rank: int, ranks: int, turn: int = 0) -> Any:
    """Elements of all ranks, of this rank too, and some of them twice. Rank 1 has no ghosts."""
    count = 0 if rank == 1 else 9 + turn
    return np.random.default_rng(rank + 100 * turn).integers(0, first_of(ranks), count)


def pairs_of(ghosts: Any, ranks: int) -> tuple[Any, Any]:
    firsts = np.array([first_of(rank) for rank in range(ranks)])
    owners = np.array([max(r for r in range(ranks) if firsts[r] <= g and owned_by(r) > 0) for g in ghosts], "int64")
    return owners, ghosts - firsts[owners]


def ids_of(indices: Any) -> Any:
    return 1000 + 13 * indices


def graph_of(team: longshore.Team, form: str = "count") -> longshore.GhostGraph:
    ghosts, owned = ghosts_of(team.rank, team.size), owned_by(team.rank)
    if form == "ids":
        return longshore.GhostGraph(team, ids_of(mine(team)), ids_of(ghosts))
    if form == "owners":
        return longshore.GhostGraph(team, ids_of(mine(team)), ids_of(ghosts), ranks=pairs_of(ghosts, team.size)[0])
    if form == "pairs":
        ranks, elements = pairs_of(ghosts, team.size)
        return longshore.GhostGraph(team, owned, elements, ranks=ranks)
    return longshore.GhostGraph(team, owned, ghosts)


def mine(team: longshore.Team) -> Any:
    return np.arange(first_of(team.rank), first_of(team.rank + 1))


def accumulated(function: Any, ranks: int, before: Any, ghost_values: Any) -> Any:
    for rank in range(ranks):
        ghosts = ghosts_of(rank, ranks)
        function.at(before, ghosts, ghost_values(rank)[: len(ghosts)])
    return before


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("form", ["count", "ids", "pairs", "owners"])
def test_an_update_copies_elements_to_their_ghosts(ranks: int, form: str) -> None:
    def main(team: longshore.Team) -> None:
        graph = graph_of(team, form)
        assert (graph.owned, graph.ghosts) == (owned_by(team.rank), len(ghosts_of(team.rank, team.size)))
        own = np.zeros(graph.owned + graph.ghosts + 2)
        ghost = longshore.Ghost(graph, fields=[own])
        for turn in (1, 2):
            own[: graph.owned] = turn * mine(team)
            ghost.start_update()
            while not ghost.test():
                pass
            expected = turn * ghosts_of(team.rank, team.size)
            assert np.array_equal(own[graph.owned : graph.owned + graph.ghosts], expected)
        assert own[-2:].tolist() == [0, 0]

    longshore.run(main, ranks, ranks_per_node=2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_exchanges_fields_of_all_types_together(strategy: str) -> None:
    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        made = longshore.Ghost(graph, len(DTYPES), DTYPES, items=2, strategy=strategy)
        own = [np.zeros((graph.owned + graph.ghosts, 3), dtype) for dtype in DTYPES]
        given = longshore.Ghost(graph, own, strategy=strategy)
        assert strategy in ("auto", given.strategy)
        ghosts = ghosts_of(team.rank, team.size)
        for ghost in (made, given):
            for x in ghost.fields:
                for item in range(x.shape[1]):
                    x[: graph.owned, item] = mine(team) + item
            ghost.update()
            for x, dtype in zip(ghost.fields, DTYPES, strict=True):
                assert x.dtype == dtype
                assert np.array_equal(x[graph.owned :, -1], ghosts + x.shape[1] - 1)
            for x in ghost.fields:
                x[graph.owned :] = 1
            ghost.accumulate(np.add)
            count = np.bincount(np.concatenate([ghosts_of(r, team.size) for r in range(team.size)]), minlength=99)
            for x in ghost.fields:
                for item in range(x.shape[1]):
                    assert np.array_equal(x[: graph.owned, item], mine(team) + item + count[mine(team)])

    longshore.run(main, 5, ranks_per_node=2)


@pytest.mark.parametrize("ranks", [1, 3, 7])
@pytest.mark.parametrize(
    "function", [np.add, np.minimum, np.maximum, np.bitwise_or, np.multiply, np.subtract, np.bitwise_xor]
)
def test_an_accumulate_combines_ghosts_with_their_element(ranks: int, function: Any) -> None:
    def ghost_values(rank: int) -> Any:
        return np.random.default_rng(rank).integers(1, 9, 9)

    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        whole = np.arange(5, 5 + first_of(team.size))
        expected = accumulated(function, team.size, whole.copy(), ghost_values)[mine(team)]
        wide = np.zeros((graph.owned + graph.ghosts, 4), "int64")
        columns = wide[:, 1:3]
        columns[: graph.owned] = whole[mine(team)][:, None]
        columns[graph.owned :] = ghost_values(team.rank)[: graph.ghosts, None]
        elements, ghosts = columns[: graph.owned, 0].copy(), columns[graph.owned :, 0].copy()
        longshore.Ghost(graph, columns).accumulate(function)
        longshore.Ghost(graph, (elements, ghosts), updates=False).accumulate(function)
        assert np.array_equal(columns[: graph.owned], np.stack([expected, expected], axis=1))
        assert np.array_equal(elements, expected)
        assert np.array_equal(ghosts, ghost_values(team.rank)[: graph.ghosts])
        assert not wide[:, [0, 3]].any()

    longshore.run(main, ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_assemble_gives_elements_and_ghosts_the_same_value(ranks: int, strategy: str) -> None:
    def ghost_values(rank: int) -> Any:
        return np.random.default_rng(rank).integers(1, 3, 9)

    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        ghosts = ghosts_of(team.rank, team.size)
        wide = np.zeros((graph.owned + graph.ghosts, 3), "int64")
        fields = [wide[::-1, 1], np.zeros(len(wide), "complex128")]
        plan = longshore.Ghost(graph, fields, strategy=strategy)
        operations: list[tuple[Any, Any]] = [("add", np.add), (np.add, np.add), (np.multiply, np.multiply)]
        for given, function in operations:
            whole = np.arange(5, 5 + first_of(team.size))
            expected = accumulated(function, team.size, whole.copy(), ghost_values)
            for x in fields:
                x[: graph.owned] = whole[mine(team)]
                x[graph.owned :] = ghost_values(team.rank)[: graph.ghosts]
            plan.start_assemble(given)
            plan.wait()
            for x in fields:
                assert np.array_equal(x[: graph.owned], expected[mine(team)])
                assert np.array_equal(x[graph.owned :], expected[ghosts])
        assert not wide[:, [0, 2]].any()
        with pytest.raises(longshore.UsageError, match="complex numbers have add only"):
            plan.assemble("maximum")
        plan.assemble()
        one_way = longshore.Ghost(graph, accumulates=False)
        with pytest.raises(longshore.UsageError):
            one_way.assemble()

    longshore.run(main, ranks, ranks_per_node=2)


def test_parts_of_a_structured_array_and_reversed_views_are_fields() -> None:
    particle = np.dtype([("mass", "float64"), ("kind", "int8"), ("place", "float32", 3)], align=True)

    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        particles = np.zeros(graph.owned + graph.ghosts, particle)
        backwards = np.zeros(2 * len(particles), "int32")[::-2]
        particles["mass"][: graph.owned] = mine(team)
        particles["place"][: graph.owned] = mine(team)[:, None] + [0.25, 0.5, 0.75]
        particles["kind"] = -1
        backwards[: graph.owned] = mine(team)
        ghost = longshore.Ghost(graph, [particles["mass"], particles["place"], backwards])
        ghosts = ghosts_of(team.rank, team.size)
        ghost.update()
        assert np.array_equal(particles["mass"][graph.owned :], ghosts)
        assert np.array_equal(particles["place"][graph.owned :], ghosts[:, None] + [0.25, 0.5, 0.75])
        assert np.array_equal(backwards[graph.owned :], ghosts)
        assert (particles["kind"] == -1).all()
        particles["kind"][: graph.owned] = mine(team) % 100
        whole = longshore.Ghost(graph, particles)  # moved as bytes
        whole.update()
        assert np.array_equal(particles["kind"][graph.owned :], ghosts % 100)
        with pytest.raises(TypeError, match="a structured type have no operations"):
            whole.accumulate()

    longshore.run(main, 4)


def test_a_graph_says_who_needs_what() -> None:
    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        owners, elements = pairs_of(ghosts_of(team.rank, team.size), team.size)
        assert graph.owners.tolist() == sorted({*owners.tolist()} - {team.rank})
        readers = []
        for reader in range(team.size):
            ranks, elements = pairs_of(ghosts_of(reader, team.size), team.size)
            needed = graph.needed_by(reader)
            assert np.array_equal(needed, elements[ranks == team.rank])
            if len(needed) > 0 and reader != team.rank:
                readers.append(reader)
        assert graph.readers.tolist() == readers
        ghost = longshore.Ghost(graph)
        assert ghost.neighbours <= len({*owners.tolist(), *readers} - {team.rank})
        assert ghost.graph is graph
        assert ghost.memory_bytes >= 0
        assert graph.memory_bytes > 0
        assert team.allreduce(ghost.moved()["payload_bytes"]) == 8 * team.allreduce(graph.ghosts)
        assert team.allreduce(ghost.moved("accumulate")["payload_bytes"]) == 8 * team.allreduce(graph.ghosts)

    longshore.run(main, 4)


@pytest.mark.parametrize("form", ["count", "pairs", "owners"])
def test_ghosts_may_change(form: str) -> None:
    def main(team: longshore.Team) -> None:
        graph = graph_of(team, form)
        x = np.zeros(graph.owned + graph.ghosts + 2)
        x[: graph.owned] = mine(team)
        ghost = longshore.Ghost(graph, x)
        for turn in (1, 2, 3):
            ghosts = ghosts_of(team.rank, team.size, turn)
            if form == "pairs":
                ranks, elements = pairs_of(ghosts, team.size)
                graph = graph.remade(elements, ranks=ranks.astype("int32"))
            elif form == "owners":
                graph = graph.remade(ids_of(ghosts), ranks=pairs_of(ghosts, team.size)[0])
            else:
                graph = graph.remade(ghosts)
            if turn < 3:
                ghost.remake(graph)
            else:
                x = np.zeros(graph.owned + graph.ghosts)
                x[: graph.owned] = mine(team)
                ghost.remake(graph, x)
            assert ghost.graph is graph
            ghost.update()
            assert np.array_equal(x[graph.owned : graph.owned + graph.ghosts], ghosts)

    longshore.run(main, 4)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_plan_may_be_made_before_its_arrays_and_be_bound_to_others(strategy: str) -> None:
    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        ghosts = ghosts_of(team.rank, team.size)
        ghost = longshore.Ghost(graph, None, strategy=strategy)
        assert (ghost.fields, ghost.neighbours, ghost.memory_bytes, ghost.strategy) == ((), 0, 0, strategy)
        assert ghost.moved()["payload_bytes"] == 0
        for operation in (ghost.update, ghost.accumulate, ghost.wait):
            with pytest.raises(longshore.UsageError, match="no memory yet"):
                operation()
        ghost.remake(graph)
        for turn in range(4):
            x = np.full((graph.owned + graph.ghosts, 2), -1.0)
            apart = (np.full(graph.owned, 7, "int32"), np.zeros(graph.ghosts, "int32"))
            x[: graph.owned] = mine(team)[:, None] + turn
            if turn == 0:
                ghost.rebind([x, apart])
                ghost.update()
            elif turn == 1:
                ghost.update([x, apart])
            else:
                ghost.start_update([x, apart])
                with pytest.raises(longshore.UsageError, match="in flight"):
                    ghost.rebind([x, apart])
                ghost.wait()
            assert ghost.fields[0] is x
            assert np.array_equal(x[graph.owned :], np.stack([ghosts, ghosts], axis=1) + turn)
            assert (apart[1] == 7).all()
            ghost.assemble("maximum")
            del x, apart
            gc.collect()  # the plan keeps the arrays
            ghost.update()

    longshore.run(main, 5, ranks_per_node=2)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_field_may_lie_anywhere_in_an_array(ranks: int, dtype: str) -> None:
    def main(team: longshore.Team) -> None:
        graph = graph_of(team)
        rows = np.random.default_rng(5).permutation(graph.owned + graph.ghosts + 3).astype(dtype)
        owned_places, ghost_places = rows[: graph.owned], rows[graph.owned : graph.owned + graph.ghosts]
        particles = np.zeros(len(rows), [("mass", "f8"), ("place", "f4", 2)])
        ghost = longshore.Ghost(graph, (particles["mass"], owned_places, ghost_places))
        other = np.zeros(len(rows))
        for x in (particles["mass"], other, other[::-1]):
            x[:] = -1
            x[owned_places] = mine(team)
            ghost.update((x, owned_places.copy(), ghost_places))
            assert np.array_equal(x[ghost_places], ghosts_of(team.rank, team.size))
            assert (x[rows[graph.owned + graph.ghosts :]] == -1).all()
        with pytest.raises(longshore.UsageError, match="memory with other places"):
            ghost.rebind((other, (owned_places + 1) % len(rows), (ghost_places + 1) % len(rows)))
        ghost.update()

    longshore.run(main, ranks)


def test_ranks_agree_on_the_first_arrays_of_a_plan() -> None:
    def main(team: longshore.Team) -> None:
        graph, last = graph_of(team), team.rank == team.size - 1
        x = np.zeros(graph.owned + graph.ghosts)
        with pytest.raises(longshore.UsageError, match="fields: "):
            longshore.Ghost(graph, None if last else x)
        ghost = longshore.Ghost(graph, None)
        with pytest.raises(longshore.UsageError, match="float32"):
            ghost.rebind(x.astype("float32") if last else x)
        with pytest.raises((longshore.Error, ValueError), match="1 rows" if last else f"rank {team.size - 1}"):
            ghost.update(x[:1] if last else x)
        assert ghost.fields == ()
        ghost.update(x)

    longshore.run(main, 3)


def test_arrays_that_do_not_fit_a_plan_are_refused() -> None:
    graph = longshore.GhostGraph(None, 2, np.array([0]))
    ghost = longshore.Ghost(graph, np.zeros(3))
    x, two, one = np.zeros(4), np.array([3, 1]), np.array([0])
    unsuitable: list[tuple[Any, type[Exception], str]] = [
        (1, TypeError, "a NumPy array is needed, got int"),
        ([x, x], ValueError, "a ghost plan of 1 fields is bound to 2 fields"),
        ([], ValueError, "an empty list"),
        (x.astype("float32"), ValueError, "memory of another type"),
        ((x, two, one), ValueError, "memory with other places"),
        ((x, one, one), ValueError, "1 places for 2 elements"),
        ((x, two, two), ValueError, "2 places for 1 ghosts"),
        ((x, two + 1, one), ValueError, "place 4 in an array of 4 rows"),
        ((x, two, one - 1), ValueError, "place -1 in an array of 4 rows"),
        ((x, two.astype("uint8"), one), TypeError, "fields: places: elements of type uint8: allowed are int32, int64"),
        ((x, two[None], one), ValueError, "an array of 2 dimensions"),
        ((x, slice(2), one), TypeError, "fields: places: a NumPy array"),
        ((x, x, x, x), ValueError, r"a tuple of 4 arrays; .* \(array, element_places, ghost_places\)"),
    ]
    for fields, error, words in unsuitable:
        for call in (ghost.rebind, ghost.update, ghost.start_update):
            with pytest.raises(error, match=words):
                call(fields)
    ghost.update()
    with pytest.raises(ValueError, match="1 fields, for a plan of 0"):
        longshore.Ghost(graph, None).remake(graph, x)
    placed = longshore.Ghost(graph, (x, two, one))
    with pytest.raises(ValueError, match="1 places for 2 ghosts"):
        placed.remake(graph.remade(np.array([0, 1])))


def test_fields_outlive_the_plan_and_the_run() -> None:
    def main(team: longshore.Team) -> Any:
        graph = longshore.GhostGraph(team, 1, np.array([(team.rank + 1) % team.size]))
        ghost = longshore.Ghost(graph)
        [x] = ghost.fields
        x[0] = team.rank
        ghost.start_update()
        del graph, ghost  # the end of the run completes the update
        return x

    x = longshore.run(main, 2)
    gc.collect()
    assert x.tolist() == [0, 1]


def test_a_rank_may_fail_during_an_exchange() -> None:
    def main(team: longshore.Team) -> None:
        ghost = longshore.Ghost(longshore.GhostGraph(team, 1, np.arange(team.size)))
        ghost.start_update()
        if team.rank == 1:
            raise RuntimeError("rank 1 says why")
        ghost.wait()

    for _ in range(5):
        with pytest.raises(RuntimeError, match="rank 1 says why"):
            longshore.run(main, 4)


def test_the_error_of_a_function_of_numpy_is_raised_after_the_exchange() -> None:
    graph = longshore.GhostGraph(None, 1, np.array([0]))
    ghost = longshore.Ghost(graph, np.zeros(2))
    with pytest.raises(TypeError, match="left_shift"):
        ghost.accumulate(np.left_shift)
    ghost.update()


def test_wrong_ghosts_are_refused_on_all_ranks() -> None:
    def main(team: longshore.Team) -> None:
        last = team.rank == team.size - 1
        for wrong, words in ((2 * team.size, str(2 * team.size)), (-1, "-1")):
            with pytest.raises(longshore.UsageError, match=words):
                longshore.GhostGraph(team, 2, np.array([wrong if last else 0]))
        with pytest.raises(longshore.UsageError, match="rank"):
            longshore.GhostGraph(team, 2, np.array([0]), ranks=np.array([team.size if last else 0]))
        with pytest.raises(longshore.UsageError, match="7"):
            longshore.GhostGraph(team, np.array([7, 7] if last else [], "int64"), np.array([], "int64"))

    longshore.run(main, 3)


def test_wrong_arguments_are_refused_with_what_is_needed() -> None:
    one = np.array([0])
    with pytest.raises(TypeError, match="ghosts: elements of int64 are needed, got int32"):
        longshore.GhostGraph(None, 1, one.astype("int32"))
    with pytest.raises(ValueError, match="2 ranks for 1 ghosts"):
        longshore.GhostGraph(None, 1, one, ranks=np.array([0, 0]))
    with pytest.raises(longshore.UsageError, match="rank 0 does not own that element"):
        longshore.GhostGraph(None, one, one + 1, ranks=one)
    with pytest.raises(ValueError, match="by ranks and indices"):
        longshore.GhostGraph(None, one, one, ranks=one).remade(one)
    with pytest.raises(ValueError, match="an array of 2 dimensions"):
        longshore.GhostGraph(None, 1, one[None])
    with pytest.raises(ValueError, match="owned"):
        longshore.GhostGraph(None, -1, one)
    graph = longshore.GhostGraph(None, 2, one)
    with pytest.raises(ValueError, match="in the form of the graph, by indices"):
        graph.remade(one, ranks=one)
    with pytest.raises(ValueError, match="reader"):
        graph.needed_by(1)
    with pytest.raises(TypeError, match="a GhostGraph is needed"):
        longshore.Ghost(longshore.world())  # type: ignore[arg-type]
    unsuitable: list[tuple[Any, type[Exception], str]] = [
        (np.zeros(2), ValueError, r"2 rows for the elements and ghosts; rank 0 has 2 elements and 1 ghosts"),
        ((np.zeros(2), np.zeros(0)), ValueError, "0 rows for the ghosts"),
        ((np.zeros(2), np.zeros(1, "int32")), TypeError, "different types"),
        ((np.zeros(3),), ValueError, "a tuple of 1 arrays"),
        ([], ValueError, "an empty list"),
        (["x"], TypeError, "a NumPy array is needed, got str"),
        (np.zeros(3, "U4"), TypeError, "allowed are int8"),
        (np.zeros(3, ">f8"), TypeError, "swapped"),
        (np.zeros((3, 4))[:, ::2], ValueError, "rows of the array must be contiguous"),
        (np.zeros(3, "O"), TypeError, "object"),
        (np.ma.zeros(3), TypeError, "mask"),
        (np.zeros(3, [("a", "i1"), ("b", "f8")])["b"], ValueError, "align=True"),
        (np.broadcast_to(0.0, 3), ValueError, "read-only"),
        (0, ValueError, "fields"),
    ]
    for fields, error, words in unsuitable:
        with pytest.raises(error, match=words):
            longshore.Ghost(graph, fields)
    with pytest.raises(ValueError, match="node-aware-2"):
        longshore.Ghost(graph, strategy="guess")
    with pytest.raises(longshore.UnsupportedError, match="mpi"):
        longshore.Ghost(graph, strategy="mpi-neighbor")
    ghost = longshore.Ghost(graph, 2, ["float64", "complex64"])
    with pytest.raises(ValueError, match="complex numbers have add only"):
        ghost.accumulate("minimum")
    with pytest.raises(ValueError, match="allowed are add, minimum, maximum, bitwise_or"):
        ghost.accumulate("product")
    with pytest.raises(ValueError, match="bitwise operations need integers"):
        longshore.Ghost(graph).accumulate("bitwise_or")
    with pytest.raises(ValueError, match="allowed are update, accumulate"):
        ghost.moved("gather")
    with pytest.raises(longshore.UsageError):
        ghost.wait()
    ghost.start_update()
    with pytest.raises(longshore.UsageError):
        ghost.start_update()
    ghost.wait()
    with pytest.raises(ValueError, match="1 fields, for a plan of 2"):
        ghost.remake(graph, np.zeros(3))
    assert repr(graph) == "<longshore.GhostGraph: 2 elements and 1 ghosts on rank 0 of 1>"
    assert repr(ghost) == "<longshore.Ghost: 2 fields, 2 elements and 1 ghosts on rank 0, strategy direct>"
