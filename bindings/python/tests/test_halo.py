"""Halo exchanges, compared with the whole periodic grid in NumPy."""

from __future__ import annotations

import gc
from typing import Any

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
        with pytest.raises(longshore.UsageError, match="not one of the 3 fields of the halo"):
            halo.exchange(u.copy())

    longshore.run(main, 3)


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
