"""sort(), compared with numpy.sort over all ranks, and stream()."""

from __future__ import annotations

from typing import Any

import longshore
import numpy as np
import pytest

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def keys_of(rank: int, dtype: str) -> Any:
    random = np.random.default_rng(rank)
    items = 0 if rank == 1 else 300 + rank
    if "float" in dtype:
        return (random.normal(size=items) * 10.0 ** random.integers(-20, 20, items)).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, items, dtype=dtype, endpoint=True)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("dtype", TYPES)
def test_keys_of_every_type_are_sorted(ranks: int, dtype: str) -> None:
    parts: list[Any] = [None] * ranks
    pairs: list[Any] = [None] * ranks

    def main(team: longshore.Team) -> None:
        keys = keys_of(team.rank, dtype)
        before = keys.copy()
        parts[team.rank] = longshore.sort(team, keys)
        pairs[team.rank] = longshore.sort(team, keys, np.arange(len(keys), dtype="int16"), stable=True)
        assert np.array_equal(keys, before)

    longshore.run(main, ranks)
    everything = np.concatenate([keys_of(rank, dtype) for rank in range(ranks)])
    came = np.concatenate([np.arange(len(keys_of(rank, dtype)), dtype="int16") for rank in range(ranks)])
    order = np.argsort(everything, kind="stable")
    assert parts[0].dtype == np.dtype(dtype)
    assert np.array_equal(np.concatenate(parts), everything[order])
    assert np.array_equal(np.concatenate([keys for keys, _ in pairs]), everything[order])
    assert np.array_equal(np.concatenate([values for _, values in pairs]), came[order])


@pytest.mark.parametrize("exchange", ["put", "put-scan", "direct", "channel", "two-hop", "auto"])
def test_every_exchange_sorts(exchange: str) -> None:
    parts: list[Any] = [None] * 4

    def main(team: longshore.Team) -> None:
        keys = np.random.default_rng(team.rank).integers(0, 1000, 500).astype("uint32")
        parts[team.rank] = longshore.sort(
            team,
            keys,
            max_key=1000,
            splitters="equal-width",
            exchange=exchange,
            seed=7,
            barrier_before_exchange=exchange == "put",
            tasks="threads",
            task_count=2,
        )

    longshore.run(main, 4, ranks_per_node=0 if exchange == "direct" else 2)
    everything = np.concatenate([np.random.default_rng(rank).integers(0, 1000, 500) for rank in range(4)])
    assert np.array_equal(np.concatenate(parts), np.sort(everything))
    assert parts[0].max() < parts[3].min()


def test_a_key_beyond_max_key_is_refused() -> None:
    for dtype in ("int32", "uint64", "int8"):
        with pytest.raises(longshore.UsageError, match="outside the range"):
            longshore.sort(None, np.array([1, 100], dtype), max_key=100)
    with pytest.raises(longshore.UsageError, match=r"\(-1 if it has a sign\) at position 1 is outside"):
        longshore.sort(None, np.array([1, -1]), max_key=100)
    with pytest.raises(longshore.UsageError, match="1 to 128 for keys of int8"):
        longshore.sort(None, np.zeros(2, "int8"), max_key=200)
    with pytest.raises(longshore.UsageError, match="integer keys"):
        longshore.sort(None, np.zeros(2), max_key=200)


def test_unsuitable_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="each key needs one"):
        longshore.sort(None, np.zeros(3), np.zeros(2))
    with pytest.raises(ValueError, match="2 dimensions; one is needed"):
        longshore.sort(None, np.zeros((3, 2)))
    for keys, values in ((np.zeros(3, "complex64"), None), (np.zeros(3), np.zeros(3, "complex128"))):
        with pytest.raises(TypeError, match=r"elements of type complex.* float64$"):
            longshore.sort(None, keys, values)
    with pytest.raises(ValueError, match="allowed are sampled, equal-width"):
        longshore.sort(None, np.zeros(3), splitters="none")
    with pytest.raises(ValueError, match="two-hop"):
        longshore.sort(None, np.zeros(3), exchange="none")


@pytest.mark.parametrize(
    "tasks",
    [
        {},
        {"tasks": "serial"},
        {"tasks": "threads"},
        {"tasks": "threads", "task_count": 2},
        {"tasks": "threads", "task_count": 0},
    ],
)
def test_tasks_are_a_layer_and_a_number(tasks: dict[str, Any]) -> None:
    assert longshore.stream(None, "add", 5000, repetitions=1, **tasks).verified
    assert longshore.sort(None, np.array([3, 1, 2]), **tasks).tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ({"tasks": "elves"}, "openmp"),
        ({"tasks": "serial", "task_count": 2}, "which has one"),
        ({"tasks": "threads", "task_count": -1}, "task_count -1"),
    ],
)
def test_wrong_tasks_are_refused(tasks: dict[str, Any], words: str) -> None:
    with pytest.raises(longshore.UsageError, match=words):
        longshore.sort(None, np.array([3, 1, 2]), **tasks)
    with pytest.raises(longshore.UsageError, match=words):
        longshore.stream(None, "add", 1000, **tasks)
    with pytest.raises(longshore.UsageError, match=words):
        longshore.Halo(None, 8, **tasks)


@pytest.mark.parametrize("tasks", [["threads"], 2])
def test_tasks_that_are_no_name_are_refused(tasks: Any) -> None:
    with pytest.raises(TypeError, match="such as 'threads'"):
        longshore.sort(None, np.array([3, 1, 2]), tasks=tasks)


@pytest.mark.parametrize("stores", ["auto", "ordinary", "streaming"])
@pytest.mark.parametrize("first_touch", ["auto", "serial", "parallel"])
def test_stores_and_first_touch_are_chosen_by_name(stores: str, first_touch: str) -> None:
    assert longshore.stream(None, "add", 5000, repetitions=1, stores=stores, first_touch=first_touch).verified


def test_unknown_stores_and_first_touch_are_refused() -> None:
    with pytest.raises(longshore.UsageError, match="allowed are auto, ordinary, streaming"):
        longshore.stream(None, "add", 1000, stores="grocery")
    with pytest.raises(longshore.UsageError, match="it is one of auto, serial, parallel"):
        longshore.stream(None, "add", 1000, first_touch="last")


@pytest.mark.parametrize("kernel", ["copy", "scale", "add", "triad"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_stream_measures_and_verifies(kernel: str, dtype: str) -> None:
    def measure(team: longshore.Team) -> longshore.StreamResult:
        return longshore.stream(team, kernel, 5000, repetitions=4, dtype=dtype, tasks="threads", task_count=2)

    result = longshore.run(measure, 2)
    assert (result.kernel, result.elements, result.verified, len(result.seconds)) == (kernel, 5000, True, 4)
    arrays = 2 if kernel in ("copy", "scale") else 3
    counted = 2 * 5000 * arrays * np.dtype(dtype).itemsize / 1e9
    assert result.bandwidth == pytest.approx(counted / np.median(result.seconds))
    assert result.best_bandwidth == pytest.approx(counted / min(result.seconds))
    with pytest.raises(ValueError, match="float32, float64"):
        longshore.stream(None, kernel, dtype="int32")
    with pytest.raises(ValueError, match="copy, scale, add, triad"):
        longshore.stream(None, "tetrad")
