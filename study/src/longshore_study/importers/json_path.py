"""Paths in JSON documents: names, [number], and [*] or * for each element, joined by dots, such as
results[*].bandwidth.

Quotes protect dots in a name: results."a.b"[0].
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(r'\.?(?:\[(?P<index>-?\d+|\*)\]|"(?P<quoted>[^"]+)"|(?P<name>[^.\[\]"]+))')
EVERY = "*"
_LONGEST = 100


def parse_path(text: str) -> list[str | int]:
    """The steps of a path. Raises ValueError with the first mistake."""
    steps: list[str | int] = []
    place = 2 if text.startswith("$.") else 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None or (place == 0 and text.startswith(".")):
            raise ValueError(
                f"'path': '{text[place : place + 20]}' at column {place + 1} is not a step; write results[*].bandwidth"
            )
        index, name = match["index"], match["quoted"] or match["name"]
        steps.append(name if index is None else EVERY if index == "*" else int(index))
        place = match.end()
    if not 1 <= len(steps) <= _LONGEST:
        raise ValueError(f"'path' has {len(steps)} steps; 1 to {_LONGEST} are allowed, such as results[*].bandwidth")
    return steps


@dataclass(frozen=True)
class Match:
    """A value at a path, with texts and indices that distinguish it from the other values."""

    value: Any
    indices: tuple[str, ...]
    """The name or number for each *."""
    beside: dict[str, str]
    """The texts beside the value and above it, up to the last *."""


def find(document: Any, steps: list[str | int]) -> Iterator[Match]:
    places: list[Match] = [Match(document, (), {})]
    for step in steps:
        places = [reached for place in places for reached in _step(place, step)]
    return iter(places)


def _step(place: Match, step: str | int) -> Iterator[Match]:
    value = place.value
    if step == EVERY and isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield Match(inner, (*place.indices, str(name)), {**place.beside, **_texts(inner)})
    elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
        yield Match(value[step], place.indices, {**place.beside, **_texts(value[step])})
    elif isinstance(value, dict) and str(step) in value:
        yield Match(value[str(step)], place.indices, {**place.beside, **_texts(value)})


def _texts(value: Any) -> dict[str, str]:
    return (
        {name: text[:200] for name, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}
    )
