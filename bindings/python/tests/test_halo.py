"""Halo exchanges, compared with the whole periodic grid in NumPy."""

from __future__ import annotations

import gc
from typing import Any, NamedTuple

import longshore
import numpy as np
import pytest

RANKS = [1, 2, 3, 4, 7]


def whole_grid(cells: tuple[int, ...], dtype: str = "float64") -> Any:
    return np.arange(1, 1 + np.prod(cells)).reshape(cells).astype(dtype)


def expected_block(halo: longshore.Halo, grid: Any, low: list[int], high: list[int]) -> Any:
    """The block of this rank with its halo, cut from a grid that is periodic in all dimensions."""
    axes = [
        np.arange(owned.start - below, owned.stop + above) % extent
        for owned, below, above, extent in zip(halo.owned, low, high, halo.cells, strict=True)
    ]
    return grid[np.ix_(*axes)]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("cells", "width"), [((23,), 1), ((14, 15), 2), ((9, 8, 15), 1), ((16, 15, 14), ((1, 0), (0, 2), (2, 1)))]
)
def test_a_halo_holds_the_cells_of_the_neighbours(ranks: int, cells: tuple[int, ...], width: Any) -> None:
    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, cells, width, fields=2, dtype=["float64", "int16"])
        sides = width if isinstance(width, tuple) else [(width, width)] * len(cells)
        low, high = [side[0] for side in sides], [side[1] for side in sides]
        for field in halo.fields:
            field[halo.interior] = whole_grid(cells, str(field.dtype))[halo.owned]
        halo.exchange()
        for field in halo.fields:
            assert np.array_equal(field, expected_block(halo, whole_grid(cells, str(field.dtype)), low, high))
        assert np.prod(halo.grid) == team.size
        assert team.allreduce(int(np.prod(halo.local_cells))) == np.prod(cells)

    longshore.run(main, ranks, ranks_per_node=2)


@pytest.mark.parametrize("algorithm", ["standard", "staged", "sequenced", "staged-sequenced", "hybrid", "auto"])
@pytest.mark.parametrize("mode", ["direct", "channel"])
def test_every_algorithm_and_mode_fills_the_halo(algorithm: str, mode: str) -> None:
    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, (10, 9, 8), 1, algorithm=algorithm, mode=mode)
        (u,) = halo.fields
        for turn in (1.0, 2.0):
            u[halo.interior] = turn * whole_grid(halo.cells)[halo.owned]
            halo.start()
            while not halo.test():
                pass
            assert np.array_equal(u, turn * expected_block(halo, whole_grid(halo.cells), [1, 1, 1], [1, 1, 1]))

    longshore.run(main, 4)


def test_arrays_of_the_user_are_exchanged_in_place() -> None:
    cells = (6, 8)

    def main(team: longshore.Team) -> None:
        shape = longshore.Halo(team, cells, 1).fields[0].shape
        memory = np.full((2 * shape[0], 3 * shape[1]), -1.0)
        strided = memory[::2, ::3]
        fortran = np.zeros(shape, order="F", dtype="int32")
        halo = longshore.Halo(team, cells, 1, fields=[strided, fortran])
        assert halo.fields[0] is strided
        strided[halo.interior] = fortran[halo.interior] = whole_grid(cells)[halo.owned]
        halo.exchange()
        assert np.array_equal(strided, expected_block(halo, whole_grid(cells), [1, 1], [1, 1]))
        assert np.array_equal(fortran, strided)
        assert (memory[1::2] == -1).all()

    longshore.run(main, 3)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_cells_may_be_complex(dtype: str) -> None:
    cells = (6, 9)
    grid = (whole_grid(cells) * (1 - 2j)).astype(dtype)

    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, cells, 2, fields=1, dtype=dtype)
        own = np.zeros(halo.fields[0].shape, dtype)
        theirs = longshore.Halo(team, cells, 2, fields=own)
        for one in (halo, theirs):
            (u,) = one.fields
            assert u.dtype == dtype
            u[one.interior] = grid[one.owned]
            one.exchange()
            assert np.array_equal(u, expected_block(one, grid, [2, 2], [2, 2]))
        assert (team.allgather(np.full(1, 1j * team.rank, dtype))[:, 0].imag == np.arange(team.size)).all()

    longshore.run(main, 3)


def test_only_the_given_fields_are_exchanged() -> None:
    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, 12, fields=3)
        u, v, w = halo.fields
        for field in halo.fields:
            field[:] = -1
            field[halo.interior] = team.rank
        halo.exchange(v)
        assert v[0] == (team.rank - 1) % team.size
        assert u[0] == w[0] == -1
        halo.exchange(w, u)
        assert u[0] == w[0] == v[0]
        with pytest.raises(longshore.UsageError, match="not one of the 3 fields:"):
            halo.exchange(u.copy())

    longshore.run(main, 3)


def test_a_part_has_fields_by_names_numbers_or_arrays_and_a_width() -> None:
    def main(team: longshore.Team) -> None:
        fields = {"pressure": "float64", "velocity": np.float32, "kind": np.zeros(16 // team.size + 4, "int8")}
        halo = longshore.Halo(team, 16, 2, fields)
        assert halo.fields[2] is fields["kind"]
        forms: list[tuple[Any, Any, list[Any]]] = [
            ("velocity", 1, [0, 1, 0]),
            ((1,), 1, [0, 1, 0]),
            (["kind", 0], None, [2, 0, 2]),
            (halo.fields[0], 3, [2, 0, 0]),  # a field keeps a smaller width
            (None, ((0, 1),), [(0, 1)] * 3),
            (None, None, [2, 2, 2]),
        ]
        for which, width, expected in 2 * forms:
            for field in halo.fields:
                field[:] = -1
                field[2:-2] = team.rank
            halo.exchange(fields=which, width=width)
            for field, filled in zip(halo.fields, expected, strict=True):
                low, high = filled if isinstance(filled, tuple) else (filled, filled)
                below, above = (team.rank - 1) % team.size, (team.rank + 1) % team.size
                assert field[:2].tolist() == [-1] * (2 - low) + [below] * low
                assert field[-2:].tolist() == [above] * high + [-1] * (2 - high)

    for ranks in (1, 2, 4):
        longshore.run(main, ranks)


class Layers(NamedTuple):
    """A field of a halo, along each dimension."""

    low: list[int]
    high: list[int]
    shared: list[int]


class Oracle:
    """All blocks of a field, and the points of the whole domain that their cells stand for."""

    def __init__(self, team: longshore.Team, halo: longshore.Halo, layers: Layers, periodic: tuple[bool, ...]) -> None:
        starts = team.allgather(np.array([owned.start for owned in halo.owned]))
        cells = team.allgather(np.array(halo.local_cells))
        self.shape = tuple(n + (0 if p else s) for n, s, p in zip(halo.cells, layers.shared, periodic, strict=True))
        self.points = []  # of each rank: the number of the point, or -1 beyond a border
        self.is_own = []  # of each rank: whether the block owns the cell
        for rank in range(team.size):
            axes, own = [], []
            for d, extent in enumerate(self.shape):
                low, shared = layers.low[d], layers.shared[d]
                inside = cells[rank, d] + shared
                axis = starts[rank, d] + np.arange(-low, inside + layers.high[d])
                first = low + (shared if periodic[d] or starts[rank, d] > 0 else 0)
                own.append(np.isin(np.arange(len(axis)), np.arange(first, low + inside)))
                axes.append(axis % extent if periodic[d] else np.where((axis >= 0) & (axis < extent), axis, -1))
            beyond = np.any(np.meshgrid(*[axis < 0 for axis in axes], indexing="ij"), axis=0)
            points = np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), self.shape, mode="wrap")
            self.points.append(np.where(beyond, -1, points))
            self.is_own.append(np.all(np.meshgrid(*own, indexing="ij"), axis=0))
        owned = np.concatenate([p[own] for p, own in zip(self.points, self.is_own, strict=True)])
        assert np.array_equal(np.sort(owned), np.arange(np.prod(self.shape)))

    def values(self, rank: int, dtype: str) -> Any:
        """What the cells of a rank have before the operation."""
        numbers = np.random.default_rng(rank).integers(1, 4, self.points[rank].shape)
        return (numbers * (1 - 2j) if dtype.startswith("complex") else numbers).astype(dtype)

    def combined(self, function: Any, dtype: str) -> Any:
        """The value of each point, after its copies were combined into it."""
        whole = np.zeros(np.prod(self.shape), dtype)
        ranks = range(len(self.points))
        for rank in ranks:
            own = self.is_own[rank]
            whole[self.points[rank][own]] = self.values(rank, dtype)[own]
        for rank in ranks:
            copies = ~self.is_own[rank] & (self.points[rank] >= 0)
            function.at(whole, self.points[rank][copies], self.values(rank, dtype)[copies])
        return whole


COMBINING = [
    ((23,), Layers([1], [1], [0]), (True,)),
    ((24,), Layers([0], [0], [1]), (False,)),
    ((14, 15), Layers([1, 2], [2, 1], [0, 1]), (True, False)),
    ((16, 14), Layers([0, 0], [0, 0], [1, 1]), (True, True)),
    ((9, 10, 12), Layers([1, 0, 1], [1, 1, 0], [1, 0, 0]), (False, True, True)),
]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize(("cells", "layers", "periodic"), COMBINING)
def test_cells_and_their_copies_are_combined(
    ranks: int, cells: tuple[int, ...], layers: Layers, periodic: tuple[bool, ...]
) -> None:
    operations: list[tuple[Any, Any]] = [
        ("add", np.add),
        (np.maximum, np.maximum),
        ("minimum", np.minimum),
        (np.multiply, np.multiply),
        (np.subtract, np.subtract),
    ]

    def main(team: longshore.Team) -> None:
        for mode in ("direct", "channel"):
            widths = list(zip(layers.low, layers.high, strict=True))
            halo = longshore.Halo(
                team,
                cells,
                {"u": widths, "v": widths},
                {"u": "int64", "v": "float32", "other": "float64"},
                periodic=periodic,
                shared={"u": layers.shared, 1: layers.shared},
                mode=mode,
            )
            oracle = Oracle(team, halo, layers, periodic)
            points, is_own = oracle.points[team.rank], oracle.is_own[team.rank]
            halo.fields[2][:] = -1
            for given, function in operations:
                for assembles in (False, True):
                    for u in halo.fields[:2]:
                        u[:] = oracle.values(team.rank, str(u.dtype))
                    (halo.assemble if assembles else halo.accumulate)(given, fields=("v", "u"))
                    for u in halo.fields[:2]:
                        right = oracle.combined(function, str(u.dtype))
                        changed = points >= 0 if assembles else is_own
                        expected = oracle.values(team.rank, str(u.dtype))
                        expected[changed] = right[points[changed]]
                        assert np.array_equal(u, expected)
            assert (halo.fields[2] == -1).all()

    longshore.run(main, ranks, ranks_per_node=2)


def test_arrays_of_the_user_are_combined_in_place_with_a_smaller_width() -> None:
    cells, whole, narrow = (12, 10), Layers([2, 1], [1, 2], [0, 1]), Layers([1, 1], [1, 1], [0, 1])

    def main(team: longshore.Team) -> None:
        widths = [(2, 1), (1, 2)]
        shape = longshore.Halo(team, cells, widths, shared=(0, 1)).fields[0].shape
        memory = np.zeros((2 * shape[1], shape[0]), "complex64")
        fields = [memory[::-2].T, np.zeros(shape, "uint8", order="F")]
        halo = longshore.Halo(team, cells, widths, fields, shared=(0, 1), mode="channel")
        oracle = Oracle(team, halo, narrow, (True, True))
        part = halo.fields[0][1:, :-1], halo.fields[1][1:, :-1]
        for u in part:
            u[:] = oracle.values(team.rank, str(u.dtype))
        halo.start_assemble(width=1)
        while not halo.test():
            pass
        for u in part:
            assert np.array_equal(u, oracle.combined(np.add, str(u.dtype))[oracle.points[team.rank]])
        assert not memory[::2].any()
        oracle = Oracle(team, halo, whole, (True, True))
        for u in halo.fields:
            u[:] = oracle.values(team.rank, str(u.dtype))
        halo.accumulate()
        own = oracle.is_own[team.rank]
        for u in halo.fields:
            assert np.array_equal(u[own], oracle.combined(np.add, str(u.dtype))[oracle.points[team.rank][own]])

    for ranks in (1, 4):
        longshore.run(main, ranks)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_an_exchange_of_fields_with_layers_of_their_own(ranks: int) -> None:
    layers = {
        "cells": Layers([1, 1], [1, 1], [0, 0]),
        "vertices": Layers([2, 2], [2, 2], [1, 1]),
        "faces": Layers([0, 1], [1, 2], [0, 1]),
    }
    periodic = (True, False)

    def unread(interior: tuple[slice, ...], of: Layers) -> tuple[slice, ...]:
        """The cells that no other rank reads. The halo of a neighbour is on its other side."""
        widest = [max(low, high) + shared for low, high, shared in zip(*of, strict=True)]
        return tuple(slice(s.start + w, max(s.start + w, s.stop - w)) for s, w in zip(interior, widest, strict=True))

    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(
            team,
            (15, 16),
            {"vertices": 2, "faces": ((0, 1), (1, 2))},
            dict.fromkeys(layers, "int32"),
            periodic=periodic,
            shared={"vertices": 1, "faces": (0, 1)},
        )
        for u in halo.fields:
            u[:] = -1
        oracles = [Oracle(team, halo, of, periodic) for of in layers.values()]
        for number, (name, u, oracle) in enumerate(zip(layers, halo.fields, oracles, strict=True)):
            interior = halo.interior_of(name)
            assert halo.interior_of(u) == halo.interior_of(number) == interior
            points = oracle.points[team.rank]
            u[interior] = points[interior]
            count = np.zeros_like(u)
            for box in [halo.inner_of(name), *halo.shell_of(name)]:
                count[box] += 1
            assert np.array_equal(np.argwhere(count), np.argwhere(u >= 0))
            assert count.max() == 1
            u[unread(interior, layers[name])] = -2
        halo.start()
        for name, u, oracle in zip(layers, halo.fields, oracles, strict=True):
            cells = unread(halo.interior_of(name), layers[name])
            u[cells] = oracle.points[team.rank][cells]
        halo.wait()
        for u, oracle in zip(halo.fields, oracles, strict=True):
            assert np.array_equal(u, oracle.points[team.rank])
        with pytest.raises(longshore.UsageError, match=r"interior_of\(field\)"):
            _ = halo.interior

    longshore.run(main, ranks)


def test_wrong_parts_and_operations_are_refused_and_the_halo_goes_on() -> None:
    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, 8 * team.size, 1, {"u": "float64", "z": "complex64"})
        for field in halo.fields:
            field[:] = 1
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("exchange", {"fields": "w"}, "no field is named 'w': the fields are u, z"),
            ("exchange", {"fields": 2}, "field 2 of a part of a halo plan: use numbers from 0 to 1"),
            ("accumulate", {"fields": [-1]}, "field -1 of a part"),
            ("start", {"fields": [1.5]}, "float is not one of the 2 fields"),
            ("start", {"width": (1, 1)}, "width: 2 values for 1 dimensions"),
            ("accumulate", {"op": "maximum"}, "operation maximum on complex64: complex numbers have add only"),
            ("assemble", {"op": "bitwise_or", "fields": "u"}, "operation bitwise_or on float64"),
            ("start_assemble", {"op": "product"}, "operation 'product': allowed are add"),
        ]
        for call, arguments, words in 2 * refused:
            with pytest.raises(ValueError, match=words):
                getattr(halo, call)(**arguments)
        # Each rank asks for another part.
        if team.size > 1:
            with pytest.raises(longshore.UsageError, match=r"passes (fields|all|widths)"):
                halo.exchange(fields=team.rank % 2, width=1)
        # One rank asks for a field that does not exist.
        with pytest.raises((longshore.UsageError, longshore.PeerFailedError), match="field 5 of a part"):
            halo.assemble(fields=(5 if team.rank == team.size - 1 else 1,))
        with pytest.raises(TypeError, match="left_shift"):
            halo.accumulate(np.left_shift, fields="u")
        for field in halo.fields:
            field[:] = 1
        halo.assemble()
        assert all((field[[0, 1, 2, -1]] == [2, 2, 1, 2]).all() for field in halo.fields)
        thin = longshore.Halo(team, 2 * team.size, 2, shared=1)
        with pytest.raises(ValueError, match=r"has 3 cells along x.*a block needs 4"):
            thin.accumulate()
        last = team.rank == team.size - 1
        for arguments, words in (
            ({"shared": 1 if last and team.size > 1 else 0}, "that shares 1,0,0 layers" if team.size > 1 else ""),
            ({"shared": -1 if last else 1}, "shared"),
            ({"width": {1: 1} if last else {0: 1}}, "field 1: there are the fields 0 to 0"),
            ({"width": {"u": 1} if last else 1}, "no field is named 'u': fields have names if"),
            ({"fields": {"u": "text" if last else "int8"}}, "text"),
            ({"fields": {1 if last else "u": "int8"}}, "names of fields"),
        ):
            if words:
                with pytest.raises((ValueError, TypeError, longshore.PeerFailedError), match=words):
                    longshore.Halo(team, 8 * team.size, **arguments)

    for ranks in (1, 3):
        longshore.run(main, ranks)


def test_tasks_copy_large_messages() -> None:
    def main(team: longshore.Team) -> bool:
        cells = (4, 50_000)  # a message of 400 kB
        halo = longshore.Halo(team, cells, ranks=(2, 1), tasks="threads", task_count=2)
        [u] = halo.fields
        u[halo.interior] = (1 + np.arange(50_000)) * (1 + team.rank)
        halo.exchange()
        expected = (1 + np.arange(50_000)) * (2 - team.rank)
        return bool(np.array_equal(u[0, 1:-1], expected) and np.array_equal(u[-1, 1:-1], expected))

    assert longshore.run(main, 2)


def test_halo_cells_beyond_a_border_are_not_written() -> None:
    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, (6, 6), periodic=(False, True), ranks=(3, 1))
        (u,) = halo.fields
        u[:] = -1
        u[halo.interior] = team.rank
        halo.exchange()
        assert (halo.grid, halo.coordinates) == ((3, 1), (team.rank, 0))
        assert (u[0] == (team.rank - 1 if team.rank > 0 else -1)).all()
        assert (u[-1] == (team.rank + 1 if team.rank < 2 else -1)).all()

    longshore.run(main, 3)


@pytest.mark.parametrize("width", [0, 1, 2, ((1, 2), (0, 3))])
@pytest.mark.parametrize("cells", [(5, 7), (3, 4), (9, 6)])
def test_inner_and_shell_cover_the_interior_once(cells: tuple[int, int], width: Any) -> None:
    halo = longshore.Halo(None, cells, width)
    count = np.zeros_like(halo.fields[0], dtype=int)
    count[halo.inner] += 1
    for box in halo.shell:
        count[box] += 1
    inside = np.zeros_like(count)
    inside[halo.interior] = 1
    assert np.array_equal(count, inside)
    inside[halo.inner] += 1
    sides = width if isinstance(width, tuple) else [(width, width)] * 2
    for at in np.argwhere(inside == 2):
        for where, (low, high), extent, first in zip(at, sides, cells, [side[0] for side in sides], strict=True):
            assert low <= where - first < extent - high


def test_fields_outlive_the_halo_and_the_run() -> None:
    def main(team: longshore.Team) -> Any:
        halo = longshore.Halo(team, 8)
        halo.fields[0][:] = team.rank
        halo.exchange()
        return halo.fields[0]

    field = longshore.run(main, 2)
    gc.collect()
    assert field.tolist() == [1, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("mode", ["direct", "channel"])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_pending_exchange_completes_before_its_halo_is_freed(mode: str, at_the_end: bool) -> None:
    cells = (64, 70)

    def main(team: longshore.Team) -> tuple[Any, Any]:
        halo = longshore.Halo(team, cells, mode=mode)
        (u,) = halo.fields
        u[halo.interior] = whole_grid(cells)[halo.owned]
        block = expected_block(halo, whole_grid(cells), [1, 1], [1, 1])
        halo.start()
        del halo
        if not at_the_end:
            longshore.Table(team, 1)  # frees the objects that all ranks have dropped
            assert np.array_equal(u, block)
        return u, block

    u, block = longshore.run(main, 4)
    assert np.array_equal(u, block)


def test_a_rank_may_fail_during_an_exchange() -> None:
    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, (200, 200))
        halo.start()
        if team.rank == 1:
            raise RuntimeError("rank 1 says why")
        halo.wait()
        team.barrier()

    for _ in range(10):
        with pytest.raises(RuntimeError, match="rank 1 says why"):
            longshore.run(main, 4)


def test_a_wrong_argument_of_a_halo_is_refused_with_the_allowed_values() -> None:
    with pytest.raises(ValueError, match="cells in 4 dimensions: 1, 2 or 3"):
        longshore.Halo(None, (2, 2, 2, 2))
    with pytest.raises(ValueError, match="each at least 1"):
        longshore.Halo(None, (2, 0))
    with pytest.raises(ValueError, match="width: 3 values for 2 dimensions"):
        longshore.Halo(None, (4, 4), (1, 1, 1))
    with pytest.raises(ValueError, match=r"array of shape \(4\); the block of rank 0 with its halo has shape \(6\)"):
        longshore.Halo(None, 4, fields=np.zeros(4))
    with pytest.raises(TypeError, match="fields: a NumPy array"):
        longshore.Halo(None, 4, fields=["u"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="pairwise"):
        longshore.Halo(None, 4, mode="carrier-pigeon")
    with pytest.raises(ValueError, match="staged"):
        longshore.Halo(None, 4, algorithm="guess")
    with pytest.raises(ValueError, match="0 fields"):
        longshore.Halo(None, 4, fields=0)
    halo = longshore.Halo(None, 4)
    with pytest.raises(ValueError, match=r"start\(\) begins one"):
        halo.wait()
    halo.start()
    with pytest.raises(ValueError, match=r"wait\(\) ends it"):
        halo.start()
    halo.wait()
    assert (
        repr(halo)
        == "<longshore.Halo: 4 cells on 1 ranks, 4 with halo 1 on rank 0, fields float64, algorithm standard>"
    )
    halo = longshore.Halo(None, (4, 4), fields={"u": "float64", "v": "int32"}, shared={"v": (0, 1)})
    assert "4 x 4 on rank 0, fields u: float64 with halo 1, v: int32 with halo 1, shared (0, 1)" in repr(halo)
