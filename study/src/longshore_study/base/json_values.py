"""Values as JSON has them, in records, factors and documents: the number in one, and one text for
equal objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def number_in(value: object, *path: str) -> float | None:
    """The number itself, or the one at `path` of nested objects. True and false are no numbers."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def canonical(factors: Mapping[str, Any]) -> str:
    """The same text for the same factors, whatever their order."""
    return _ENCODER.encode(factors)
