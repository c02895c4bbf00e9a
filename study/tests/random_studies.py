"""Stored studies drawn at random, for what must hold of all of them: with a shift of the machine or
none, with a pulse or none, sessions that are pairs, strangers, or measured in turns, of two tags
with missing partners."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from longshore_study.store.launch_store import Store
from stored_launches import control, halo, sort, store_launch

MODES = ("waitall", "persistent", "neighbor", "sendrecv")


@dataclass(frozen=True)
class Draw:
    """What tells one random study from another."""

    shift: float
    """The speed of the whole new side; its controls show it."""
    pulse: bool
    design: str
    """paired, unpaired or turns."""
    sessions: int
    launches: int
    noise: float
    lonely: bool
    """Whether the reference has one session more, which was another day."""


def draw(seed: int) -> Draw:
    """All combinations of shift, pulse and design come up within eighteen seeds."""
    generator = random.Random(seed)
    return Draw(
        shift=(1.0, 0.98, 1.3)[seed // 6 % 3],
        pulse=seed % 2 == 0,
        design=("paired", "unpaired", "turns")[seed // 2 % 3],
        sessions=generator.choice((1, 2, 2, 3)),
        launches=generator.choice((2, 4, 6)),
        noise=generator.choice((0.001, 0.02, 0.1)),
        lonely=generator.random() < 0.4,
    )


def fill(store: Store, seed: int) -> Draw:
    """Tags `old` and `new`."""
    drawn, generator = draw(seed), random.Random(1000 + seed)
    changes = {mode: generator.choice((1.0, 1.0, 0.9, 1.02, 0.3)) for mode in MODES}
    for tag, session, index, started in _launches(drawn):
        mood = generator.gauss(0, 5 * drawn.noise) if drawn.pulse else 0.0
        speed = (drawn.shift if tag == "new" else 1.0) * (1.5 if session == "lonely" else 1.0) * 2.0**mood
        results = [
            halo(mode, 1000 * speed * (changes[mode] if tag == "new" else 1.0) * _noise(generator, drawn))
            for mode in MODES
        ]
        results.append(sort("put", 1e-3 / speed * _noise(generator, drawn)))
        if drawn.pulse:
            for one in results:
                one["pulse_seconds"] = 1e-6 / 2.0 ** (mood / 0.7)
        cell = {"program": "halo", "ranks": 2}
        store_launch(store, tag, session, results, index, cell=cell, started=started, position=index)
        steady = drawn.shift if tag == "new" else 1.0
        controls = [
            control("copy", 10 * steady * generator.gauss(1, 0.0005)),
            control("pingpong", 1 / steady * generator.gauss(1, 0.0005)),
        ]
        cell = {"program": "control", "ranks": 2}
        store_launch(store, tag, session, controls, index, cell=cell, started=started)
    return drawn


def _launches(drawn: Draw) -> Iterator[tuple[str, str, int, str]]:
    names = [f"day{number}" for number in range(drawn.sessions)]
    for side, tag in enumerate(("old", "new")):
        mine = [f"{tag}-{name}" for name in names] if drawn.design == "unpaired" else names
        if drawn.lonely and tag == "old":
            mine = [*mine, "lonely"]
        for day, session in enumerate(mine):
            for index in range(drawn.launches):
                apart = 0 if drawn.design == "turns" else 12
                start = dt.datetime(2026, 1, 1 + day, 1 + apart * side, 2 * index + side, tzinfo=dt.UTC)
                yield tag, session, index, start.isoformat()


def _noise(generator: random.Random, drawn: Draw) -> float:
    return math.exp(generator.gauss(0, drawn.noise))


def every_ratio(document: Any) -> Iterator[tuple[float, tuple[float, float]]]:
    """Ratios and their intervals, wherever a document has both."""
    pairs = {"ratio": "interval", "goodness_ratio": "interval", "times_slower": "times_slower_interval",
             "efficiency": "interval"}  # fmt: skip
    if isinstance(document, dict):
        for name, beside in pairs.items():
            if isinstance(document.get(name), float) and document.get(beside):
                yield document[name], tuple(document[beside])
        for value in document.values():
            yield from every_ratio(value)
    elif isinstance(document, list):
        for value in document:
            yield from every_ratio(value)
