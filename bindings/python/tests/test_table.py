"""Tables, gather, scatter and histogram, compared with NumPy on the whole table."""

from __future__ import annotations

import gc
from typing import Any

import longshore
import numpy as np
import pytest

RANKS = [1, 2, 3, 4, 7]
TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
STRATEGIES = ["agp", "exstack", "exstack2", "conveyor", "aggregator", "direct", "auto"]


def whole(size: int, dtype: str) -> Any:
    return (np.arange(size) * 37 % 101).astype(dtype)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("distribution", "block_items"), [("block", None), ("cyclic", None), ("block-cyclic", 1), ("block-cyclic", 7)]
)
@pytest.mark.parametrize("size", [0, 5, 1000, 1024])
def test_indices_and_owners_cover_the_table_once(
    ranks: int, distribution: str, block_items: int | None, size: int
) -> None:
    owners: list[Any] = [None] * ranks

    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, size, "int32", distribution, block_items=block_items)
        assert (table.distribution, table.block_items) == (distribution, block_items)
        assert len(table) == table.size == size
        assert [table.owner(int(i)) for i in table.indices] == [team.rank] * len(table.local)
        owners[team.rank] = table.indices

    longshore.run(main, ranks)
    assert sorted(np.concatenate(owners)) == list(range(size))
    if distribution != "block":
        assert all((mine // (block_items or 1) % ranks == rank).all() for rank, mine in enumerate(owners))
    else:
        assert np.array_equal(np.concatenate(owners), np.arange(size))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_gather_and_scatter_of_every_type(dtype: str, distribution: str) -> None:
    def main(team: longshore.Team) -> None:
        size = 101
        table = longshore.Table(team, size, dtype, distribution)
        assert table.dtype == np.dtype(dtype)
        table.local[:] = whole(size, dtype)[table.indices]
        indices = np.random.default_rng(team.rank).integers(0, size, (3, 50))
        got = longshore.gather(table, indices)
        assert got.dtype == np.dtype(dtype)
        assert np.array_equal(got, whole(size, dtype)[indices])
        mine = np.arange(team.rank, size, team.size)
        longshore.scatter(table, mine, whole(2 * size, dtype)[size + mine])
        assert np.array_equal(table.local, whole(2 * size, dtype)[size + table.indices])

    longshore.run(main, 3)


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_agrees_with_numpy(ranks: int, strategy: str) -> None:
    size = 500

    def main(team: longshore.Team) -> None:
        for distribution in ("block", "cyclic"):
            table = longshore.Table(team, size, "int64", distribution)
            table.local[:] = whole(size, "int64")[table.indices]
            requests = 0 if team.rank == 1 else 2000 + team.rank
            indices = np.random.default_rng(team.rank).integers(0, size, requests)
            out = np.empty_like(indices)
            for _ in range(2):
                assert longshore.gather(table, indices, out, strategy=strategy, buffer_items=64) is out
                assert np.array_equal(out, whole(size, "int64")[indices])
            assert table.strategy in (STRATEGIES if strategy == "auto" else [strategy])
            counts = longshore.Table(team, size, "int64", distribution)
            longshore.histogram(counts, indices, strategy=strategy)
            longshore.histogram(counts, indices, indices + 1, strategy=strategy)
            everybody = np.concatenate(
                [np.random.default_rng(r).integers(0, size, 0 if r == 1 else 2000 + r) for r in range(team.size)]
            )
            expected = np.bincount(everybody, weights=everybody + 2, minlength=size)
            assert np.array_equal(counts.local, expected[counts.indices])

    longshore.run(main, ranks, ranks_per_node=0 if strategy == "direct" else 2)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
def test_histogram_adds_in_the_type_of_the_table(dtype: str) -> None:
    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, 4, dtype)
        table.local[:] = 1
        longshore.histogram(table, np.array([0, 3, 3]), 2)
        longshore.histogram(table, np.array([1]), np.array([5], dtype))
        expected = np.array([1 + 2 * 3, 1 + 5 * 3, 1, 1 + 4 * 3], dtype)
        assert np.array_equal(longshore.gather(table, np.arange(4)), expected)
        if "float" in dtype:
            longshore.histogram(table, np.array([2]), -0.25)
            assert longshore.gather(table, np.array([2]))[0] == 0.25

    longshore.run(main, 3)


def test_local_is_the_memory_of_the_table_and_stays_valid() -> None:
    table = longshore.Table(None, 100, "float32")
    first, second = table.local, table.local
    assert np.shares_memory(first, second)
    assert first.flags.aligned
    assert first.flags.writeable
    first[7] = 2.5
    assert longshore.gather(table, np.array([7]))[0] == 2.5
    del table, second
    gc.collect()
    longshore.Table(None, 10)  # frees dropped tables, unless an array uses their memory
    assert first[7] == 2.5

    def main(team: longshore.Team) -> Any:
        mine = longshore.Table(team, 4, "int64")
        mine.local[:] = mine.indices
        return mine.local

    assert longshore.run(main, 2).tolist() == [0, 1]


def test_dropped_tables_are_freed_by_all_ranks_together() -> None:
    def resident_pages() -> int:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 - a file of the kernel
            return int(statm.read().split()[1])

    def main(team: longshore.Team) -> None:
        kept: list[Any] = []
        first = 0
        for turn in range(20):
            table = longshore.Table(team, 1 << 21)
            table.local[:] = turn
            if turn % 5 == team.rank:
                kept = [table]  # this rank drops the table later than other ranks
            team.barrier()
            if turn == 4:
                first = resident_pages()
        assert len(kept) == 1
        assert (resident_pages() - first) * 4096 < 8 * (16 << 20)

    longshore.run(main, 2)


def test_out_and_values_are_used_without_a_copy() -> None:
    table = longshore.Table(None, 1000)
    table.local[:] = np.arange(1000)
    memory = np.zeros(5000)
    out = memory[1000:2000]
    got = longshore.gather(table, np.arange(1000), out)
    assert np.shares_memory(got, memory)
    assert np.array_equal(memory[1000:2000], np.arange(1000))
    assert not memory[2000:].any()


def test_an_index_out_of_range_is_refused_and_the_table_stays_usable() -> None:
    refused: list[str] = []

    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, 10)
        for strategy in ("direct", "exstack", "conveyor", "agp"):
            index = 10 if team.rank == 1 else 0
            try:
                longshore.gather(table, np.array([index]), strategy=strategy)
            except longshore.UsageError as error:
                assert team.rank == 1
                refused.append(str(error))
            except longshore.PeerFailedError:
                assert team.rank != 1
            assert longshore.gather(table, np.array([9]), strategy=strategy)[0] == 0

    longshore.run(main, 3)
    assert len(refused) == 4
    assert all("10" in text for text in refused)


def test_unsuitable_arrays_are_refused_with_the_requirement() -> None:
    table = longshore.Table(None, 10)
    good = np.arange(4)
    with pytest.raises(TypeError, match=r"indices: elements of int64 are needed, got int32; array.astype\('int64'\)"):
        longshore.gather(table, good.astype("int32"))
    with pytest.raises(
        TypeError,
        match=r"indices: a NumPy array of int64 is needed, got list \(numpy.asarray\(..., 'int64'\) makes one\)",
    ):
        longshore.gather(table, [1, 2])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="indices: elements of int64 are needed, got datetime64"):
        longshore.gather(table, np.zeros(2, "datetime64[s]"))
    with pytest.raises(TypeError, match="values: a NumPy array of float64 is needed, got list"):
        longshore.scatter(table, good, [1.0, 2.0, 3.0, 4.0])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="indices: the array must be contiguous"):
        longshore.gather(table, np.arange(8)[::2])
    with pytest.raises(TypeError, match="out: elements of float64 are needed, got float32"):
        longshore.gather(table, good, np.empty(4, "float32"))
    with pytest.raises(ValueError, match="4 indices, but 3 elements in out"):
        longshore.gather(table, good, np.empty(3))
    with pytest.raises(ValueError, match="out: the array must be contiguous"):
        longshore.gather(table, good, np.empty((4, 2))[:, 0])
    read_only = np.empty(4)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="out: the array is read-only"):
        longshore.gather(table, good, read_only)
    with pytest.raises(ValueError, match="4 indices, but 2 values"):
        longshore.scatter(table, good, np.empty(2))
    with pytest.raises(TypeError, match="complex64"):
        longshore.scatter(table, good, np.empty(4, "complex64"))
    with pytest.raises(TypeError, match="datetime64"):
        longshore.scatter(table, good, np.empty(4, "datetime64[s]"))
    with pytest.raises(ValueError, match="4 indices, but 3 numbers in amount"):
        longshore.histogram(table, good, np.ones(3))
    with pytest.raises(longshore.UnsupportedError, match="int32 or int64"):
        longshore.histogram(longshore.Table(None, 3, "int8"), good[:2])
    with pytest.raises(ValueError, match=r"agp.*exstack.*direct"):
        longshore.gather(table, good, strategy="telepathy")
    with pytest.raises(ValueError, match="allowed are block, cyclic, block-cyclic"):
        longshore.Table(None, 3, distribution="heap")
    with pytest.raises(TypeError, match="allowed are int8"):
        longshore.Table(None, 3, "complex128")
    with pytest.raises(TypeError, match="allowed are int8"):
        longshore.Table(None, 3, "nothing")
    with pytest.raises(ValueError, match="-1 elements"):
        longshore.Table(None, -1)
    with pytest.raises(MemoryError, match="bytes"):
        longshore.Table(None, 1 << 50)
    with pytest.raises(IndexError, match="element 10 of a table of 10"):
        table.owner(10)
    with pytest.raises(TypeError, match="a Team is needed"):
        longshore.Table(3, 3)  # type: ignore[arg-type]


def test_repr_describes_a_table() -> None:
    assert (
        repr(longshore.Table(None, 10, "int16", "cyclic"))
        == "<longshore.Table: 10 int16 elements, cyclic over 1 ranks, 10 on rank 0>"
    )


@pytest.mark.parametrize("distribution", ["block", "cyclic"])
def test_a_table_can_be_read_after_the_run(distribution: str) -> None:
    table = longshore.run(lambda team: longshore.Table(team, 10, "int64", distribution), 2)
    gc.collect()
    assert table.indices.tolist() == list(range(5) if distribution == "block" else range(0, 10, 2))
    assert table.local.tolist() == [0] * 5
