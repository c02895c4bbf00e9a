"""Importer of any JSON output. A path selects the values of the metric: `results[*].bandwidth`
selects the member `bandwidth` of all elements of `results`. The factors of a value are the texts
beside it. If these texts do not distinguish all values, the factor is the position of the value.
"""

import json
import math
from typing import Any, NoReturn

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.base.units import is_above_zero
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.json_path import Match, find, parse_path
from longshore_study.importers.regex import MAX_VALUES, values_as_run
from longshore_study.importers.run_texts import finite_or_nan


def read(source: Source, options: Options) -> list[Imported]:
    choice = options.metric
    if choice is None or choice.path is None:
        raise UsageError("format 'json' needs --path, --figure and --unit, or these keys in the study file")
    steps = parse_path(choice.path)
    matches = find(parsed(source, source.text), steps)
    if not matches:
        raise LongshoreError(f"{source.name}: the document has nothing at the path '{choice.path}'")
    if len(matches) > MAX_VALUES:
        raise LongshoreError(f"{source.name}: more than {MAX_VALUES} values at the path '{choice.path}'")
    numbers = [_number(source, choice.path, match.value, choice.unit) for match in matches]
    values = list(zip(_factors(matches, str(steps[-1])), numbers, strict=True))
    return [values_as_run(choice, values, options)]


def parsed(source: Source, text: str) -> Any:
    """The parsed document. Raises LongshoreError with file and line if it is not valid."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        lines = "; for one document per line, join them first: jq --slurp . FILE" if error.msg == "Extra data" else ""
        raise LongshoreError(f"{source.name}:{error.lineno}: not JSON: {error.msg}{lines}") from None
    except RecursionError:
        raise LongshoreError(f"{source.name}: not JSON: nested too deeply") from None
    except ValueError as error:
        raise LongshoreError(f"{source.name}: not JSON: {error}") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _factors(matches: list[Match], value_key: str) -> list[dict[str, Any]]:
    """The factors of each value: texts that distinguish values, or else their positions."""
    names = {name for match in matches for name in match.beside if name != value_key}
    differing = {name for name in names if len({match.beside.get(name) for match in matches}) > 1}
    factors: list[dict[str, Any]] = [
        {name: text for name, text in match.beside.items() if name in differing} for match in matches
    ]
    if len({str(sorted(levels.items())) for levels in factors}) == len(matches):
        return factors
    return [{f"place{number or ''}": text for number, text in enumerate(match.indices)} for match in matches]


def _number(source: Source, path: str, value: Any, unit: str) -> float:
    number = finite_or_nan(value)
    if math.isnan(number):
        raise LongshoreError(f"{source.name}: the path '{path}' leads to {value!r:.40}, which is not a number")
    if number <= 0 and is_above_zero(unit):
        raise LongshoreError(f"{source.name}: the path '{path}' leads to {number:g} {unit}, which is not possible")
    return number
