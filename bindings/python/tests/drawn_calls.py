"""Draws calls with their arguments, and another value of one argument for one rank.

As a program under a launcher: drawn_calls.py FIRST COUNT draws the calls of COUNT seeds, and fails
if a rank accepts what another rank refuses.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import longshore
import numpy as np

Arguments = dict[str, Any]
INDICES = np.array([3, 59, 17, 17, 0])
TYPES = ("float64", "int64", "float32", "uint8")


def table(team: longshore.Team, given: Arguments) -> None:
    longshore.Table(team, **given)


def own_table(team: longshore.Team) -> longshore.Table:
    return longshore.Table(team, 60, "int64")


def gather(team: longshore.Team, given: Arguments) -> None:
    longshore.gather(own_table(team), INDICES, **given)


def scatter(team: longshore.Team, given: Arguments) -> None:
    longshore.scatter(own_table(team), INDICES, np.arange(5), **given)


def update(team: longshore.Team, given: Arguments) -> None:
    longshore.update(own_table(team), INDICES, 1, **given)


def halo(team: longshore.Team, given: Arguments) -> None:
    longshore.Halo(team, **given).exchange()


def halo_of_arrays(team: longshore.Team, given: Arguments) -> None:
    own = dict(given)
    count, dtype = own.pop("count"), own.pop("dtype")
    arrays = [np.zeros((6, 7), dtype) for _ in range(count)]
    longshore.Halo(team, local_cells=(4, 5), width=1, fields=arrays, **own).exchange()


def halo_part(team: longshore.Team, given: Arguments) -> None:
    longshore.Halo(team, (8, 8), 2, fields=3).exchange(**given)


def halo_assemble(team: longshore.Team, given: Arguments) -> None:
    longshore.Halo(team, (9, 8), 1, {"u": "float64", "v": "int32"}, shared={"v": (1, 0)}).assemble(**given)


def layout(team: longshore.Team, given: Arguments) -> None:
    boxes = [((3 * team.rank, 0), (3, 4))]
    longshore.BoxLayout(team, boxes, ((0, 0), (3 * team.size, 4)), **given)


def boxes(team: longshore.Team, given: Arguments) -> None:
    longshore.Boxes(longshore.BoxLayout(team, [((3 * team.rank, 0), (3, 4))]), **given).assemble()


def boxes_part(team: longshore.Team, given: Arguments) -> None:
    layout = longshore.BoxLayout(team, [((3 * team.rank, 0), (3, 4))])
    longshore.Boxes(layout, 2, {"u": "float64", "v": "int32", "w": "int8"}).update(**given)


def copy(team: longshore.Team, given: Arguments) -> None:
    layout = longshore.BoxLayout(team, [((3 * team.rank, 0), (3, 4))])
    longshore.BoxCopy(longshore.Boxes(layout, 0), longshore.Boxes(layout, 1), **given).copy()


def ghost(team: longshore.Team, given: Arguments) -> None:
    ghosts = np.array([(team.rank + 1) % team.size * 10 + 3, (team.rank - 1) % team.size * 10])
    plan = longshore.Ghost(longshore.GhostGraph(team, 10, ghosts), **given)
    if given["updates"]:
        plan.update()


def ghost_rebound(team: longshore.Team, given: Arguments) -> None:
    plan = longshore.Ghost(longshore.GhostGraph(team, 2, np.array([2 * team.rank])), None, strategy=given["strategy"])
    x = np.zeros(given["rows"], given["dtype"])
    if given["places"] is None:
        plan.update([x] * given["count"])
    else:
        owned, ghosts = given["places"]
        plan.update([(x, np.array(owned), np.array(ghosts))] * given["count"])
    plan.update()


def sort(team: longshore.Team, given: Arguments) -> None:
    own = dict(given)
    keys = np.arange(50, dtype=own.pop("dtype"))
    values = own.pop("values")
    longshore.sort(team, keys, None if values is None else np.arange(50, dtype=values), **own)


def allreduce(team: longshore.Team, given: Arguments) -> None:
    team.allreduce(np.ones(given["count"], given["dtype"]), given["op"])


def stream(team: longshore.Team, given: Arguments) -> None:
    longshore.stream(team, **given)


# No two choices of an argument mean the same. With one field, `{0: 1}` would mean `1`.
REQUESTS = {
    "strategy": ("agp", "exstack", "exstack2", "conveyor", "aggregator", "direct", "auto", "exstak"),
    "buffer_items": (0, 16, 32, -1),
    "combine": (False, True),
}
CALLS: tuple[tuple[Callable[[longshore.Team, Arguments], None], dict[str, tuple[Any, ...]]], ...] = (
    (table, {"size": (60, 61, -1), "dtype": (*TYPES, "str"), "distribution": ("block", "cyclic", "blocks")}),
    (gather, REQUESTS),
    (scatter, REQUESTS),
    (update, {**REQUESTS, "op": ("add", "minimum", "maximum", "bitwise_xor", "divide")}),
    (
        halo,
        {
            "cells": ((8, 8), (12, 8), (8, 0)),
            "fields": (1, 2, 3, 1001),
            "dtype": TYPES,
            "periodic": (True, False, (True, False), (True, True, True)),
            "ranks": ((0, 0), (1, 0), (0, 1), (5, 5)),
            "algorithm": ("standard", "staged", "sequenced", "faces", "staged-sequenced"),
            "mode": ("direct", "channel", "isend-recv", "persistent", "dirct"),
            "reach": ("corners", "faces", "edges"),
            "placement": ("linear", "auto", "cart", "levels"),
            "shared": (0, 1, (0, 1), (1, 1, 1), {0: (1, 0)}, {1: (1, 0)}),
        },
    ),
    (halo_part, {"fields": (0, 1, (0, 2), 7), "width": (None, 0, 1, ((1, 0), (2, 1)))}),
    (halo_assemble, {"fields": ("u", "v", 5), "width": (0, 1, ((1, 0), (1, 1)))}),
    (
        halo_of_arrays,
        {
            "count": (1, 2),
            "dtype": TYPES,
            "algorithm": ("standard", "staged", "sequenced", "faces"),
            "mode": ("direct", "channel"),
        },
    ),
    (
        layout,
        {
            "periodic": (False, True, (True, False), (True, True, True)),
            "glued": ((), ({"beyond": ((0, 4), (2, 1)), "sign": (1, -1), "offset": (0, 7)},), ({},)),
        },
    ),
    (
        boxes,
        {
            "width": (0, 1, ((1, 0), (2, 1)), {0: 2}, {1: 2}, 1.5),
            "fields": (1, 2, 1001),
            "dtype": TYPES,
            "shared": (0, 1, (0, 1), {0: (1, 0)}),
            "mode": ("direct", "channel", "dirct"),
        },
    ),
    (boxes_part, {"fields": ("u", 1, ("u", "w"), 7), "width": (None, 0, 1, ((1, 0), (2, 1)))}),
    (copy, {"fills_halos": (False, True, 2), "mode": ("direct", "channel", "dirct")}),
    (
        ghost,
        {
            "fields": (1, 2),
            "dtype": TYPES,
            "items": (1, 3),
            "strategy": ("direct", "standard", "node-aware-2", "node-aware", "auto", "standart"),
            "updates": (True, False),
            "accumulates": (True, False),
        },
    ),
    (
        ghost_rebound,
        {
            "strategy": ("direct", "standard", "node-aware", "standart"),
            "count": (1, 2, 0),
            "rows": (3, 2),
            "dtype": TYPES,
            "places": (None, ((0, 1), (9,)), ((0, 1), (2, 0))),
        },
    ),
    (
        sort,
        {
            "dtype": ("int64", "float64", "uint32", "int32"),
            "values": (None, "int64", "float32"),
            "stable": (False, True),
            "together": (False, True),
            "splitters": ("sampled", "equal-width", "few"),
            "exchange": ("auto", "put", "channel", "alltoallv", "sendrecv", "all"),
            "order": ("round-robin", "incast", "random"),
        },
    ),
    (allreduce, {"count": (1, 2, 100), "dtype": ("int64", "float64"), "op": ("sum", "min", "max")}),
    (
        stream,
        {"kernel": ("copy", "triad", "cubed"), "elements": (1000, 2000), "repetitions": (1, 2), "dtype": TYPES[::2]},
    ),
)


@dataclass(frozen=True)
class Drawn:
    call: Callable[[longshore.Team, Arguments], None]
    usual: Arguments
    odd: Arguments

    def text(self) -> str:
        changed = {name: value for name, value in self.odd.items() if value != self.usual[name]}
        return f"{self.call.__name__} with {self.usual}, and {changed} on one rank"


def draw(numbers: random.Random) -> Drawn:
    call, choices = numbers.choice(CALLS)
    usual = {name: numbers.choice(values) for name, values in choices.items()}
    changed = numbers.choice(list(choices))
    other = numbers.choice([value for value in choices[changed] if value != usual[changed]])
    return Drawn(call, usual, {**usual, changed: other})


def refusals(team: longshore.Team, call: Callable[[longshore.Team, Arguments], None], given: Arguments) -> int:
    """On how many ranks the call raises an error."""
    refused = 0
    try:
        call(team, given)
    except (longshore.Error, ValueError, TypeError):
        refused = 1
    return int(team.allreduce(refused))


def faults_of(team: longshore.Team, first: int, count: int) -> list[str]:
    faults = []
    for seed in range(first, first + count):
        numbers = random.Random(seed)  # noqa: S311 - reproducible, not secret
        drawn, odd_rank = draw(numbers), numbers.randrange(team.size)
        refused = refusals(team, drawn.call, drawn.odd if team.rank == odd_rank else drawn.usual)
        if refused != team.size:
            faults.append(f"seed {seed}: {refused} of {team.size} ranks refuse {drawn.text()}")
        refused = refusals(team, drawn.call, drawn.usual)  # the usual arguments may be wrong, too
        if refused not in (0, team.size):
            faults.append(f"seed {seed}: {refused} of {team.size} ranks refuse {drawn.usual}")
    return faults


def main(team: longshore.Team) -> list[str]:
    return faults_of(team, int(sys.argv[1]), int(sys.argv[2]))


if __name__ == "__main__":
    found = longshore.run(main, timeout_seconds=60)
    print("\n".join(found))
    sys.exit(1 if found else 0)
