r"""Reads the keys of [[external]] that locate a metric in any output, for the formats `regex` and
`json`.

format = "regex"                              format = "json"
pattern = 'bandwidth: (?P<value>\S+)'        path = "results[*].bandwidth"
figure = "bandwidth"                          figure = "bandwidth"
unit = "GB/s"                                 unit = "GB/s"
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from longshore_study.importers.imported import MetricChoice
from longshore_study.importers.json_path import parse_path
from longshore_study.patterns import FACTORS_BETWEEN_LAUNCHES
from longshore_study.study_file.toml_positions import Path as KeyPath
from longshore_study.study_file.toml_values import Values

METRIC_KEYS = ("pattern", "path", "figure", "unit", "better")
_NEEDED = {
    "regex": ("pattern", "figure", "unit"), "json": ("path", "figure", "unit"), "csv": ("figure", "unit"),
}  # fmt: skip
_LONGEST_EXPRESSION = 2000
_TAKEN = ("program", "environment", *FACTORS_BETWEEN_LAUNCHES)
"""Names of factors that all launches have."""


def read_metric(
    reader: Values, block: Mapping[str, Any], where: KeyPath, wanted: str, between: Iterable[str] = ()
) -> MetricChoice | None:
    """The metric of an external program with the format `wanted`. None for formats that find the
    metrics themselves. A group of a regular expression must not have a name in `between`, the
    factors that the study file passes to the program."""
    needed = _NEEDED.get(wanted)
    allowed = (*needed, "better") if needed else ()
    for key in (key for key in METRIC_KEYS if key in block and key not in allowed):
        reader.problem((*where, key), f"'{key}' is not allowed with format = \"{wanted}\", which finds figures itself")
    if needed is None:
        return None
    for key in needed:
        if key not in block:
            reader.problem(
                where, f"format = \"{wanted}\" needs '{key}' (and {', '.join(k for k in needed if k != key)})"
            )
    expression = reader.text(block, where, "pattern", "") if wanted == "regex" else None
    path = reader.text(block, where, "path", "") if wanted == "json" else None
    if expression:
        _check_expression(reader, expression, (*where, "pattern"), {*_TAKEN, *between})
    if path:
        try:
            parse_path(path)
        except ValueError as error:
            reader.problem((*where, "path"), str(error))
    better = reader.word(block, where, "better", ("higher", "lower")) if "better" in block else None
    return MetricChoice(
        name=reader.text(block, where, "figure", "figure"),
        unit=reader.text(block, where, "unit", ""),
        better=better or "higher",
        expression=expression,
        path=path,
    )


def _check_expression(reader: Values, expression: str, where: KeyPath, taken: Collection[str]) -> None:
    if len(expression) > _LONGEST_EXPRESSION:
        reader.problem(where, f"'pattern' has {len(expression)} characters; at most {_LONGEST_EXPRESSION} are allowed")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(expression, re.MULTILINE)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        reader.problem(where, f"'pattern' is not a regular expression: {error}")
        return
    for name in (name for name in compiled.groupindex if name in taken):
        reader.problem(
            where, f"'pattern' has a group named {name}, which would hide the factor {name} of the launch; rename it"
        )
    if not compiled.groups:
        reader.problem(where, "'pattern' has no group; put the figure into a group, such as '(\\S+)'")
    elif compiled.groups > 1 and "value" not in compiled.groupindex:
        reader.problem(where, "'pattern' has several groups; name that of the figure: (?P<value>...)")
