"""Any JSON output, by a path of the study file or the command line: `results[*].bandwidth` takes
the figure of each element. Texts that stand beside a figure and differ are its factors; where there
are none, its place is.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.json_path import Found, find, parse_path
from longshore_study.importers.regex import MOST_FIGURES, figures_as_run

_DEEPEST = 200


def read(source: Source, options: Options) -> list[Imported]:
    choice = options.figure
    if choice is None or choice.path is None:
        raise UsageError("format 'json' needs --path, --figure and --unit, or these keys in the study file")
    found = list(find(parsed(source, source.text), parse_path(choice.path)))
    if not found:
        raise LongshoreError(f"{source.name}: the document has nothing at path '{choice.path}'")
    if len(found) > MOST_FIGURES:
        raise LongshoreError(f"{source.name}: more than {MOST_FIGURES} figures at path '{choice.path}'")
    figures = [_number(source, choice.path, one.value) for one in found]
    metrics = list(zip(_factors(found, str(parse_path(choice.path)[-1])), figures, strict=True))
    return [figures_as_run(choice, metrics, options)]


def parsed(source: Source, text: str) -> Any:
    """The document, or LongshoreError with file and line for what is none, or is nested absurdly
    deep."""
    depth = deepest = 0
    for mark in text:
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    if deepest > _DEEPEST:
        raise LongshoreError(f"{source.name}: nested {deepest} deep; at most {_DEEPEST} are read")
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise LongshoreError(f"{source.name}:{error.lineno}: not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise LongshoreError(f"{source.name}: not JSON: {error}") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _factors(found: list[Found], own: str) -> list[dict[str, Any]]:
    """What tells each from the others; a figure that is written as a text (`own`) does not."""
    texts: dict[str, set[str]] = {}
    having: dict[str, int] = {}
    for one in found:
        for name, text in one.beside.items():
            texts.setdefault(name, set()).add(text)
            having[name] = having.get(name, 0) + 1
    differing = {name for name in texts if name != own and (len(texts[name]) > 1 or having[name] < len(found))}
    told = [{name: text for name, text in one.beside.items() if name in differing} for one in found]
    if len({str(sorted(factors.items())) for factors in told}) == len(found):
        return list(told)
    return [{f"place{number or ''}": text for number, text in enumerate(one.met)} for one in found]


def _number(source: Source, path: str, value: Any) -> float:
    try:
        figure = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        figure = math.nan
    if not math.isfinite(figure):
        raise LongshoreError(f"{source.name}: path '{path}' leads to {value!r:.40}, which is no number")
    return figure
