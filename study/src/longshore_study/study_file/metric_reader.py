r"""Reads the keys of [[external]] that locate a metric in any output, for the formats `regex` and
`json`.

format = "regex"                              format = "json"
pattern = 'bandwidth: (?P<value>\S+)'        path = "results[*].bandwidth"
figure = "bandwidth"                          figure = "bandwidth"
unit = "GB/s"                                 unit = "GB/s"
"""

import re
import warnings
from collections.abc import Collection, Iterable

from longshore_study.importers.imported import MetricChoice
from longshore_study.importers.json_path import parse_path
from longshore_study.patterns import FACTORS_BETWEEN_LAUNCHES
from longshore_study.study_file.toml_values import TomlTable

METRIC_KEYS = ("pattern", "path", "figure", "unit", "better")
_NEEDED = {
    "regex": ("pattern", "figure", "unit"), "json": ("path", "figure", "unit"), "csv": ("figure", "unit"),
}  # fmt: skip
_LONGEST_EXPRESSION = 2000
_TAKEN = ("program", "environment", *FACTORS_BETWEEN_LAUNCHES)
"""Names of factors that all launches have."""


def read_metric(table: TomlTable, wanted: str, between: Iterable[str] = ()) -> MetricChoice | None:
    """The metric of an external program with the format `wanted`. None for formats that find the
    metrics themselves. A group of a regular expression must not have a name in `between`, the
    factors that the study file passes to the program."""
    needed = _NEEDED.get(wanted)
    allowed = (*needed, "better") if needed else ()
    for key in (key for key in METRIC_KEYS if key in table and key not in allowed):
        table.problem(f"'{key}' is not allowed with format = \"{wanted}\", which finds figures itself", key)
    if needed is None:
        return None
    for key in needed:
        if key not in table:
            others = ", ".join(other for other in needed if other != key)
            table.problem(f"format = \"{wanted}\" needs '{key}' (and {others})")
    expression = table.text("pattern") if wanted == "regex" else None
    path = table.text("path") if wanted == "json" else None
    if expression:
        _check_expression(table, expression, {*_TAKEN, *between})
    if path:
        try:
            parse_path(path)
        except ValueError as error:
            table.problem(str(error), "path")
    return MetricChoice(
        name=table.text("figure", "figure"),
        unit=table.text("unit"),
        better=table.optional_word("better", ("higher", "lower")) or "higher",
        expression=expression,
        path=path,
    )


def _check_expression(table: TomlTable, expression: str, taken: Collection[str]) -> None:
    def problem(message: str) -> None:
        table.problem(f"'pattern' {message}", "pattern")

    if len(expression) > _LONGEST_EXPRESSION:
        problem(f"has {len(expression)} characters; at most {_LONGEST_EXPRESSION} are allowed")
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(expression, re.MULTILINE)
    except (re.error, Warning, OverflowError, RecursionError) as error:
        problem(f"is not a regular expression: {error}")
        return
    for name in (name for name in compiled.groupindex if name in taken):
        problem(f"has a group named {name}, which would hide the factor {name} of the launch; rename it")
    if not compiled.groups:
        problem("has no group; put the figure into a group, such as '(\\S+)'")
    elif compiled.groups > 1 and "value" not in compiled.groupindex:
        problem("has several groups; name that of the figure: (?P<value>...)")
