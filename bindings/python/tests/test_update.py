"""Updates by each operation, and block-cyclic tables, compared with NumPy on the whole table."""

from __future__ import annotations

from typing import Any

import longshore
import numpy as np
import pytest

SIZE = 203
OPERATIONS: dict[str, Any] = {
    "add": np.add,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_or": np.bitwise_or,
    "bitwise_and": np.bitwise_and,
}


def requests(rank: int, dtype: str) -> tuple[Any, Any]:
    random = np.random.default_rng(rank)
    indices = random.integers(0, SIZE, 0 if rank == 1 else 400)
    if "float" in dtype:
        return indices, (random.integers(-50, 50, len(indices)) / 4).astype(dtype)  # sums are exact
    limits = np.iinfo(dtype)
    return indices, random.integers(limits.min, limits.max, len(indices), dtype=dtype, endpoint=True)


def before(dtype: str) -> Any:
    return (np.arange(SIZE) * 37 % 101).astype(dtype)


def expected(ranks: int, dtype: str, function: Any) -> Any:
    table = before(dtype)
    for rank in range(ranks):
        function.at(table, *requests(rank, dtype))
    return table


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64", "float32", "float64"])
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_every_operation_works_for_every_type(operation: str, dtype: str) -> None:
    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, SIZE, dtype, "block-cyclic", block_items=10)
        indices, values = requests(team.rank, dtype)
        if "float" in dtype and "bitwise" in operation:
            with pytest.raises(longshore.UsageError, match="bitwise operations need integers"):
                longshore.update(table, indices, values, operation)
            return
        for given in (operation, OPERATIONS[operation]):  # a name, and a function of NumPy
            table.local[:] = before(dtype)[table.indices]
            longshore.update(table, indices, values, given, strategy="exstack")
            assert np.array_equal(table.local, expected(team.size, dtype, OPERATIONS[operation])[table.indices])

    longshore.run(main, 3)


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("strategy", ["agp", "exstack", "exstack2", "conveyor", "aggregator", "direct", "auto"])
def test_every_strategy_agrees_with_and_without_combining(ranks: int, strategy: str) -> None:
    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, SIZE, "float32", "block-cyclic", block_items=3)
        for combine in (False, True):
            table.local[:] = before("float32")[table.indices]
            indices, values = requests(team.rank, "float32")
            longshore.update(table, indices, values, "maximum", strategy=strategy, combine=combine)
            assert np.array_equal(table.local, expected(team.size, "float32", np.maximum)[table.indices])
            assert strategy in ("auto", table.strategy)

    longshore.run(main, ranks)


def test_plans_of_different_operations_are_kept_apart() -> None:
    table = longshore.Table(None, 3, "int64")
    for operation, result in (("max", 5), ("min", 2), ("sum", 4), ("bitwise_or", 6), (max, 6), ("add", 8)):
        longshore.update(table, np.array([1]), 5 if operation == "max" else 2, operation, strategy="exstack")
        assert table.local.tolist() == [0, result, 0]


def test_gather_and_scatter_in_block_cyclic_tables() -> None:
    def main(team: longshore.Team) -> None:
        for dtype in ("int8", "uint16", "float32", "int64"):
            table = longshore.Table(team, SIZE, dtype, "block-cyclic", block_items=8)
            mine = np.arange(team.rank, SIZE, team.size)
            longshore.scatter(table, mine, before(dtype)[mine], strategy="exstack")
            assert np.array_equal(table.local, before(dtype)[table.indices])
            indices, _ = requests(team.rank + 2, dtype)
            for strategy in ("conveyor", "direct"):
                assert np.array_equal(longshore.gather(table, indices, strategy=strategy), before(dtype)[indices])

    longshore.run(main, 3)


def test_unsuitable_arguments_are_refused() -> None:
    table = longshore.Table(None, 10, "int64")
    one = np.array([1])
    operations: tuple[Any, ...] = ("product", np.multiply, lambda a, _: a)
    for operation in operations:
        with pytest.raises(longshore.UsageError, match="allowed are add, minimum"):
            longshore.update(table, one, 1, operation)
    with pytest.raises(longshore.UnsupportedError, match="int32 or int64"):
        longshore.update(longshore.Table(None, 3, "int16"), one, 1, "minimum")
    with pytest.raises(longshore.UsageError, match="1 indices, but 2 numbers in values"):
        longshore.update(table, one, np.arange(2), "add")
    with pytest.raises(longshore.UsageError, match="give both or neither"):
        longshore.Table(None, 3, distribution="block-cyclic")
    with pytest.raises(longshore.UsageError, match="give both or neither"):
        longshore.Table(None, 3, block_items=2)
    with pytest.raises(longshore.UsageError, match="block_items 0"):
        longshore.Table(None, 3, distribution="block-cyclic", block_items=0)
    assert repr(longshore.Table(None, 10, "int8", "block-cyclic", block_items=4)) == (
        "<longshore.Table: 10 int8 elements, block-cyclic by 4 over 1 ranks, 10 on rank 0>"
    )


@pytest.mark.parametrize("strategy", ["agp", "exstack", "conveyor", "direct"])
def test_the_error_of_a_bad_index_names_its_call(strategy: str) -> None:
    def main(team: longshore.Team) -> None:
        table = longshore.Table(team, 10, "int64")
        bad = np.array([3, 10])
        for _ in range(2):  # both calls use one plan
            with pytest.raises(longshore.UsageError, match=r"^histogram on rank \d: index 10 at position 1 is outside"):
                longshore.histogram(table, bad, strategy=strategy)
            with pytest.raises(longshore.UsageError, match=r"^update on rank \d: index 10 at position 1 is outside"):
                longshore.update(table, bad, 1, "add", strategy=strategy)

    longshore.run(main, 2)
