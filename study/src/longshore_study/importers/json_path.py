"""Paths in JSON documents, such as results[*].bandwidth: names, [number], and [*] or * for all
elements, joined by dots. Quotes protect dots in a name: results."a.b"[0].
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(r'\.?(?:\[(?P<index>-?\d+|\*)\]|"(?P<quoted>[^"]+)"|(?P<name>[^.\[\]"]+))')
EVERY = "*"
_MAX_STEPS = 100


def parse_path(text: str) -> list[str | int]:
    """The steps of a path. Raises ValueError with the first mistake."""
    steps: list[str | int] = []
    start = 2 if text.startswith("$.") else 0
    while start < len(text):
        match = _STEP.match(text, start)
        if match is None or (start == 0 and text.startswith(".")):
            raise ValueError(
                f"'path': '{text[start : start + 20]}' at column {start + 1} is not a step; write results[*].bandwidth"
            )
        index, name = match["index"], match["quoted"] or match["name"]
        steps.append(name if index is None else EVERY if index == "*" else int(index))
        start = match.end()
    if not 1 <= len(steps) <= _MAX_STEPS:
        raise ValueError(f"'path' has {len(steps)} steps; 1 to {_MAX_STEPS} are allowed, such as results[*].bandwidth")
    return steps


@dataclass(frozen=True)
class Match:
    """A value at a path, with texts and indices that distinguish the value from other values."""

    value: Any
    indices: tuple[str, ...]
    """The name or number of the element, for each * of the path."""
    beside: dict[str, str]
    """The texts in the objects on the path to the value, by key."""


def find(document: Any, steps: list[str | int]) -> list[Match]:
    """The values at the path in a JSON document."""
    matches = [Match(document, (), {})]
    for step in steps:
        matches = [inner for match in matches for inner in _step(match, step)]
    return matches


def _step(match: Match, step: str | int) -> Iterator[Match]:
    value = match.value
    if step == EVERY and isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in pairs:
            yield Match(inner, (*match.indices, str(name)), {**match.beside, **_texts(inner)})
    elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
        yield Match(value[step], match.indices, {**match.beside, **_texts(value[step])})
    elif isinstance(value, dict) and str(step) in value:
        yield Match(value[str(step)], match.indices, {**match.beside, **_texts(value)})


def _texts(value: Any) -> dict[str, str]:
    return (
        {name: text[:200] for name, text in value.items() if isinstance(text, str)} if isinstance(value, dict) else {}
    )
