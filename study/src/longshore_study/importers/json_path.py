"""Paths into JSON documents: names, [number], and [*] or * for each element, joined by dots:
results[*].bandwidth.

A dot within a name is written by quoting it: results."a.b"[0].
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
    """The steps of a path; raises ValueError that says what is wrong."""
    steps: list[str | int] = []
    place = 2 if text.startswith("$.") else 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None or (place == 0 and text.startswith(".")):
            raise ValueError(
                f"'path': '{text[place : place + 20]}' at column {place + 1} is no step; as results[*].bandwidth"
            )
        index, name = match["index"], match["quoted"] or match["name"]
        steps.append(name if index is None else EVERY if index == "*" else int(index))
        place = match.end()
    if not 1 <= len(steps) <= _LONGEST:
        raise ValueError(f"'path' has {len(steps)} steps; 1 to {_LONGEST} are allowed, as in results[*].bandwidth")
    return steps


@dataclass(frozen=True)
class Found:
    """A value that a path leads to, and what tells it from the others."""

    value: Any
    met: tuple[str, ...]
    """The names and numbers met at each *."""
    beside: dict[str, str]
    """The texts that stand beside it, or above it up to the last *."""


def find(document: Any, steps: list[str | int]) -> Iterator[Found]:
    places: list[Found] = [Found(document, (), {})]
    for step in steps:
        places = [reached for place in places for reached in _step(place, step)]
    return iter(places)


def _step(place: Found, step: str | int) -> Iterator[Found]:
    value = place.value
    if step == EVERY and isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield Found(inner, (*place.met, str(name)), {**place.beside, **_texts(inner)})
    elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
        yield Found(value[step], place.met, {**place.beside, **_texts(value[step])})
    elif isinstance(value, dict) and str(step) in value:
        yield Found(value[str(step)], place.met, {**place.beside, **_texts(value)})


def _texts(value: Any) -> dict[str, str]:
    return (
        {name: text[:200] for name, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}
    )
