"""Arguments are converted exactly, or refused with a message that says what is needed."""

from __future__ import annotations

from typing import Any

import longshore
import numpy as np
import pytest

ONE = np.array([1])


def table_of(dtype: str) -> longshore.Table:
    return longshore.Table(None, 4, dtype)


@pytest.mark.parametrize("amount", [[5, 6, 7], (5, 6, 7), [], "3", 1j, {1: 2}])
def test_an_amount_is_a_number_or_an_array(amount: Any) -> None:
    table = table_of("int64")
    with pytest.raises(TypeError, match="amount: a number, or a NumPy array with one for each index, is needed, got"):
        longshore.histogram(table, np.arange(3), amount, strategy="direct")
    assert not table.local.any()


@pytest.mark.parametrize("amount", [1.9, 0.5, float("nan"), np.float64(2), np.array(2.0)])
def test_a_table_of_integers_takes_whole_numbers_only(amount: Any) -> None:
    for dtype in ("int32", "int64", "uint32", "uint64"):
        with pytest.raises(TypeError, match="amount: a whole number, as the elements of the table are, is needed"):
            longshore.histogram(table_of(dtype), ONE, amount, strategy="direct")


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_an_amount_is_in_the_range_of_the_type_of_the_table(dtype: str) -> None:
    limits = np.iinfo(dtype)
    for amount in (int(limits.min), int(limits.max), np.array(limits.max, dtype), limits.dtype.type(limits.min)):
        table = table_of(dtype)
        longshore.histogram(table, ONE, amount, strategy="direct")
        assert table.local.tolist() == [0, int(amount), 0, 0]
    for amount in (int(limits.min) - 1, int(limits.max) + 1, 1 << 70, -(1 << 70)):
        with pytest.raises(longshore.UsageError, match=f"amount: {amount} is out of the range of {dtype}"):
            longshore.histogram(table_of(dtype), ONE, amount, strategy="direct")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_table_of_floats_takes_all_numbers(dtype: str) -> None:
    for amount in (2, 2.5, True, np.float32(2.5), np.int8(-3), np.uint64(7), np.array(2.5), np.bool_(True)):
        table = table_of(dtype)
        longshore.histogram(table, ONE, amount, strategy="direct")
        assert table.local[1] == amount
    with pytest.raises(longshore.UsageError, match="is out of the range of"):
        longshore.histogram(table_of(dtype), ONE, 1 << 2000, strategy="direct")


def test_allreduce_takes_numbers_of_numpy() -> None:
    def main(team: longshore.Team) -> None:
        assert team.allreduce(np.float32(team.rank + 0.5), "max") == 2.5
        assert team.allreduce(np.uint8(team.rank)) == 3
        assert team.allreduce(np.bool_(team.rank == 1), "max") == 1  # any()
        assert type(team.allreduce(np.int64(2))) is int

    longshore.run(main, 3)
    for number in (1 << 70, np.uint64(1 << 63), -(1 << 63) - 1):
        with pytest.raises(longshore.UsageError, match=r"allreduce: .* is not from -9223372036854775808 to"):
            longshore.world().allreduce(number)
    with pytest.raises(TypeError, match="allreduce: a NumPy array"):
        longshore.world().allreduce("1")
    with pytest.raises(TypeError, match="complex128"):
        longshore.world().allreduce(np.zeros(1, "complex128"))


def test_a_halo_takes_numbers_of_numpy_and_refuses_other_values() -> None:
    halo = longshore.Halo(
        None, np.array([4, 5]), np.int8(1), np.int64(2), periodic=(np.True_, 0), ranks=np.array([1, 1], "int16")
    )
    assert (halo.cells, len(halo.fields)) == ((4, 5), 2)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"cells": (4.0, 4)}, "cells: a whole number is needed, got 4.0"),
        ({"cells": 4.5}, "cells: a whole number is needed, got 4.5"),
        ({"cells": 4, "width": 1.5}, "width: a whole number is needed, got 1.5"),
        ({"cells": 4, "width": ((1, None),)}, "width: a whole number is needed, got None"),
        ({"cells": 4, "periodic": "yes"}, "periodic: True or False is needed, got 'yes'"),
        ({"cells": (4, 4), "ranks": (1.0, 1)}, "ranks: a whole number is needed, got 1.0"),
    ]
    for arguments, words in refused:
        with pytest.raises(TypeError, match=words):
            longshore.Halo(None, **arguments)
    for arguments, words in [
        ({"cells": 4, "width": -1}, "width: -1 is not from 0 to"),
        ({"cells": 1 << 70}, "cells: 1180591620717411303424 is not from"),
        ({"cells": 4, "periodic": 2}, "periodic: 2 is not from 0 to 1"),
        ({"cells": 4, "fields": 1001}, "1001 fields: 1 to 1000"),
    ]:
        with pytest.raises(longshore.UsageError, match=words):
            longshore.Halo(None, **arguments)


def test_arrays_in_unsuitable_memory_are_refused() -> None:
    table = table_of("float64")
    table.local[:] = np.arange(4)
    unaligned = np.frombuffer(bytearray(17), "float64", count=2, offset=1)
    with pytest.raises(ValueError, match=r"out: the array must begin at a multiple .* array.copy\(\) does"):
        longshore.gather(table, np.arange(2), unaligned)
    packed = np.zeros(6, dtype=[("mark", "int8"), ("x", "float64")])
    with pytest.raises(ValueError, match=r"fields: the strides .* array.copy\(\)"):
        longshore.Halo(None, 4, fields=packed["x"])
    with pytest.raises(TypeError, match=r"indices: the bytes of elements of >i8 are swapped; array.astype\('int64'\)"):
        longshore.gather(table, np.arange(2).astype(">i8"))
    with pytest.raises(TypeError, match=r"indices: a masked array, .* array.compressed\(\)"):
        longshore.gather(table, np.ma.masked_equal(np.arange(4), 2))
    with pytest.raises(longshore.UsageError, match="out overlaps the indices"):
        both = np.arange(6)
        longshore.gather(table_of("int64"), both[:3], both[2:5])


def test_suitable_views_and_subclasses_are_accepted(tmp_path: Any) -> None:
    table = table_of("int64")
    table.local[:] = np.arange(4)
    memory = np.arange(6)
    on_disk = np.memmap(tmp_path / "indices", "int64", "w+", shape=(2,))
    on_disk[:] = [3, 1]
    read_only = np.broadcast_to(np.int64(2), (1,))
    taken: list[tuple[Any, Any]] = [
        (on_disk, [3, 1]),
        (read_only, [2]),
        (np.int64(3), 3),
        (np.zeros((3, 0), "int64"), [[], [], []]),
    ]
    for indices, values in taken:
        assert longshore.gather(table, indices, strategy="direct").tolist() == values
    beside = longshore.gather(table, memory[:2], memory[2:4], strategy="direct")
    assert (beside.tolist(), memory.tolist()) == ([0, 1], [0, 1, 0, 1, 4, 5])


def test_a_deadline_is_a_number_of_seconds() -> None:
    for timeout in (-1.0, float("nan")):
        with pytest.raises(longshore.UsageError, match="0 or more; 0 means no deadline"):
            longshore.run(lambda _: None, 1, timeout_seconds=timeout)
