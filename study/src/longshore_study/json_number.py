"""A number found in a JSON value: of records, factors and documents; true is none."""

from __future__ import annotations

from collections.abc import Mapping


def number_in(value: object, *path: str) -> float | None:
    """The value itself, or what stands at `path` of nested objects."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
