"""Values of JSON objects, one text for equal objects, and the document of a command."""

import json
from collections.abc import Mapping
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def number_in(value: object, *path: str) -> float | None:
    """The number at `path` in nested objects, or `value` itself. True and false are no numbers."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def positive_in(value: object, *path: str) -> float | None:
    """The number at `path` if it is above 0."""
    number = number_in(value, *path)
    return number if number is not None and number > 0 else None


def attributes(row: object, names: str) -> dict[str, Any]:
    """The attributes with these names, separated by spaces, as values of JSON."""
    return {name: _json_value(getattr(row, name)) for name in names.split()}


def _json_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def print_json(document: Mapping[str, Any]) -> None:
    print(json.dumps(document, indent=1, ensure_ascii=False))


def canonical(factors: Mapping[str, Any]) -> str:
    """The same text for equal factors, in any order."""
    return _ENCODER.encode(factors)
