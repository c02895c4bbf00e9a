"""Ranks that pass other arguments to a collective call are refused on all ranks, and can go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import longshore
import numpy as np
import pytest

Call = Callable[[longshore.Team, dict[str, Any]], object]


def halo(team: longshore.Team, more: dict[str, Any]) -> object:
    return longshore.Halo(team, **({"cells": (8, 8), "width": 1, "ranks": (3, 1)} | more))


def local_halo(team: longshore.Team, more: dict[str, Any]) -> object:
    return longshore.Halo(team, **({"local_cells": (4, 4), "width": 1, "ranks": (3, 1)} | more))


def sort(team: longshore.Team, more: dict[str, Any]) -> object:
    keys = np.arange(100, dtype=more.get("dtype", "int64"))
    return longshore.sort(team, keys, **{name: value for name, value in more.items() if name != "dtype"})


def table(team: longshore.Team, more: dict[str, Any]) -> object:
    return longshore.Table(team, more.get("size", 100), dtype=more.get("dtype", "float64"))


@pytest.mark.parametrize("odd_rank", [0, 2])
@pytest.mark.parametrize(
    ("call", "usual", "odd", "words"),
    [
        (halo, {}, {"algorithm": "faces"}, "algorithm"),
        (halo, {"mode": "channel"}, {"mode": "direct"}, "mode"),
        (halo, {}, {"reach": "faces"}, "reach"),
        (halo, {}, {"ranks": (1, 3)}, "a grid of"),
        (halo, {}, {"fields": 2}, "fields:"),
        (halo, {}, {"dtype": "int64"}, "a field of"),
        (local_halo, {}, {"local_cells": (4, 5)}, "do not fit those of rank"),
        (sort, {"max_key": 1000}, {"max_key": 500}, "max_key"),
        (sort, {}, {"dtype": "float64"}, "keys"),
        (sort, {}, {"exchange": "put"}, "exchange"),
        (table, {}, {"dtype": "int64"}, "elements of"),
        (table, {}, {"size": 101}, "a size of"),
    ],
)
def test_other_arguments_are_refused_on_all_ranks(
    call: Call, usual: dict[str, Any], odd: dict[str, Any], words: str, odd_rank: int
) -> None:
    refused: list[int] = []

    def main(team: longshore.Team) -> None:
        with pytest.raises(longshore.UsageError, match=words):
            call(team, odd if team.rank == odd_rank else usual)
        refused.append(team.rank)
        team.barrier()
        call(team, usual)

    longshore.run(main, 3)
    assert sorted(refused) == [0, 1, 2]


def test_the_cause_is_told_on_all_ranks() -> None:
    """Of three ranks, the one with two cells cannot have a halo of three."""
    told: list[str] = []

    def main(team: longshore.Team) -> None:
        with pytest.raises(longshore.Error) as raised:
            longshore.Halo(team, cells=(7,), width=3)
        told.append(str(raised.value))

    longshore.run(main, 3)
    assert all("is wider than the 2 cells" in text for text in told)


def test_too_few_cells_for_the_ranks_are_said() -> None:
    def main(team: longshore.Team) -> None:
        with pytest.raises(longshore.UsageError, match="with 3 cells, a rank has at least one cell"):
            longshore.Halo(team, cells=(3,), width=1)

    longshore.run(main, 8)
