"""Importer of any JSON output. A path selects the metrics: `results[*].bandwidth` takes that of
each element. Texts beside a metric become its factors if they differ. Without them, its position
does.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.json_path import Match, find, parse_path
from longshore_study.importers.regex import MOST_VALUES, values_as_run

_DEEPEST = 200


def read(source: Source, options: Options) -> list[Imported]:
    choice = options.metric
    if choice is None or choice.path is None:
        raise UsageError("format 'json' needs --path, --figure and --unit, or these keys in the study file")
    found = list(find(parsed(source, source.text), parse_path(choice.path)))
    if not found:
        raise LongshoreError(f"{source.name}: the document has nothing at the path '{choice.path}'")
    if len(found) > MOST_VALUES:
        raise LongshoreError(f"{source.name}: more than {MOST_VALUES} values at the path '{choice.path}'")
    numbers = [_number(source, choice.path, one.value) for one in found]
    values = list(zip(_factors(found, str(parse_path(choice.path)[-1])), numbers, strict=True))
    return [values_as_run(choice, values, options)]


def parsed(source: Source, text: str) -> Any:
    """The parsed document. Raises LongshoreError with file and line if it is invalid or nested too
    deeply."""
    depth = deepest = 0
    for mark in text:
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    if deepest > _DEEPEST:
        raise LongshoreError(f"{source.name}: nested {deepest} levels deep; at most {_DEEPEST} are allowed")
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise LongshoreError(f"{source.name}:{error.lineno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise LongshoreError(f"{source.name}: not JSON: {error}") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _factors(found: list[Match], own: str) -> list[dict[str, Any]]:
    """The texts that distinguish the values. `own` is the key of the values themselves."""
    texts: dict[str, set[str]] = {}
    having: dict[str, int] = {}
    for one in found:
        for name, text in one.beside.items():
            texts.setdefault(name, set()).add(text)
            having[name] = having.get(name, 0) + 1
    differing = {name for name in texts if name != own and (len(texts[name]) > 1 or having[name] < len(found))}
    factors = [{name: text for name, text in one.beside.items() if name in differing} for one in found]
    if len({str(sorted(levels.items())) for levels in factors}) == len(found):
        return list(factors)
    return [{f"place{number or ''}": text for number, text in enumerate(one.indices)} for one in found]


def _number(source: Source, path: str, value: Any) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise LongshoreError(f"{source.name}: the path '{path}' leads to {value!r:.40}, which is not a number")
    return number
