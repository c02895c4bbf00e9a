"""A number found in a JSON value: of records, factors and documents; true is none."""

from __future__ import annotations


def number_in(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
