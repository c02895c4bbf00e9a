"""Values of JSON objects: a number by its path, and one text for equal objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def number_in(value: object, *path: str) -> float | None:
    """The number at `path` in nested objects, or `value` for an empty path. None if there is no
    number. True and false are not numbers."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def canonical(factors: Mapping[str, Any]) -> str:
    """The same text for equal factors, in any order."""
    return _ENCODER.encode(factors)
