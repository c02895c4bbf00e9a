"""Importer of any printed output by a regular expression. Each match has a value of the metric: the
group named `value`, or the only group. Other named groups are factors. The time of the search is
limited, because some regular expressions take almost forever.
"""

import math
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from types import FrameType
from typing import Any

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.base.groups import grouped
from longshore_study.base.units import is_above_zero
from longshore_study.importers.imported import (
    Imported,
    MetricChoice,
    Options,
    Source,
    aggregate_result,
    known,
    whole_records,
)
from longshore_study.importers.run_texts import finite_or_nan
from longshore_study.importers.series import level_of
from longshore_study.store import records

_CONTEXT = 24
_MARKS = ",'\N{RIGHT SINGLE QUOTATION MARK}_\N{NO-BREAK SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
"""Marks of a fraction or between groups of digits, besides the point."""
_MINUS = "-\N{MINUS SIGN}"
_TIMES = "*x\N{MULTIPLICATION SIGN}"
_AFTER = re.compile(
    rf"""\d | \.\d | (?P<mark>[{_MARKS}])\d | \.?[EeDd][-+]?\d
       | (?P<fortran>[-+])\d{{3}}(?!\d) | (?P<hexadecimal>[xX])[0-9a-fA-F]
       | [ ]?[{_TIMES}][ ]?10(?:\^|\*\*)""",
    re.VERBOSE,
)
_BEFORE = re.compile(
    rf"""(?: \d | \d\. | \d(?P<mark>[{_MARKS}]) | (?<![\w.])\. | \d\.?[EeDd][-+]?
       | (?<![\w).\]])(?P<minus>[{_MINUS}]) )\Z""",
    re.VERBOSE,
)
_NO_LITERALS = re.compile(r"\[\^?\]?[^]]*\]|\{[^}]*\}|\\[A-Za-z]|\(\?(?:P?<\w+>|:|=|!|<=|<!)")
"""Parts of a pattern that name no single character: sets, repetitions, classes, kinds of groups."""


def whole_number(match: re.Match[str], group: str | int) -> str | None:
    """The number of which the group has only a part, with some text around it, or None:
    `([0-9.]+)` matches 11 of 11,5, and 1.15 of 1.15e+03. If a pattern itself contains a mark, such
    as the comma between two groups, the mark separates two numbers."""
    text, begin, end = match.string, match.start(group), match.end(group)
    named = _NO_LITERALS.sub("", match.re.pattern)

    def separates(mark: str | None, place: int) -> bool:
        return mark is not None and mark in named and match.start() <= place < match.end()

    before = _BEFORE.search(text[max(0, begin - _CONTEXT) : begin])
    if before and separates(before["mark"] or before["minus"], begin - 1):
        before = None
    after = _AFTER.match(text, end)
    if after and (
        separates(after["mark"], end)
        or (after["fortran"] and "." not in match[group])  # 1.0-100, but not 1-100
        or (after["hexadecimal"] and match[group].lstrip("+-") != "0")
    ):
        after = None
    if not before and not after:
        return None
    first = re.split(r"[ \t\n]", text[max(0, begin - _CONTEXT) : begin])[-1]
    rest = re.split(r"[ \t\n]", text[end : end + _CONTEXT])[0]
    return first + match[group] + max(rest, after[0] if after else "", key=len)


MAX_SECONDS = 5.0
MAX_VALUES = 100_000
_LONGEST_LEVEL = 200


def read(source: Source, options: Options) -> list[Imported]:
    choice = options.metric
    if choice is None or choice.expression is None:
        raise UsageError("format 'regex' needs --pattern, --figure and --unit, or these keys in the study file")
    expression = re.compile(choice.expression, re.MULTILINE)
    group: str | int = "value" if "value" in expression.groupindex else 1
    values: list[tuple[dict[str, Any], float]] = []
    with _time_limit(source):
        for match in expression.finditer(source.text):
            if len(values) >= MAX_VALUES:
                raise source.at(match).error(f"more than {MAX_VALUES} values")
            values.append((_factors(match), _value(source, match, group, choice.unit)))
    if not values:
        raise LongshoreError(f"{source.name}: nothing in the output matches the pattern '{choice.expression}'")
    return [values_as_run(choice, values, options)]


def values_as_run(choice: MetricChoice, values: list[tuple[dict[str, Any], float]], options: Options) -> Imported:
    """One run. Values with the same factors are repetitions, of which the median is stored."""
    # The default name does not depend on the file, since each output of a program has its own file.
    program, ranks = options.program or choice.name, options.ranks
    results = []
    for alike in grouped(values, lambda value: str(sorted(value[0].items()))).values():
        value = median(value for _, value in alike)
        metrics = {choice.name: records.metric(value, choice.unit, choice.better)}
        results.append(aggregate_result(program, alike[0][0], metrics, repetitions=len(alike)))
    header = {"program": {"name": program}, "ranks": ranks}
    return Imported(known(program=program, ranks=ranks or None), whole_records(header, results))


def _factors(match: re.Match[str]) -> dict[str, Any]:
    named = {
        name: text[:_LONGEST_LEVEL] for name, text in match.groupdict().items() if name != "value" and text is not None
    }
    return {name: level_of(text) for name, text in named.items()}


def _value(source: Source, match: re.Match[str], group: str | int, unit: str) -> float:
    text = match[group]
    value = finite_or_nan((text or "").strip().replace("D", "E").replace("d", "e"))
    if math.isnan(value):
        raise source.at(match).error(
            f"'{(text or '')[:40]}' is not a number; the figure is the group named value, or the first"
        )
    if value <= 0 and is_above_zero(unit):
        raise source.at(match, group).error(f"a figure of {text} {unit} is not possible")
    if whole := whole_number(match, group):
        raise source.at(match, group).error(
            f"the pattern reads '{text}', but the number goes on: '{whole}'; let the group match all of it, such as "
            "(?P<value>\\S+), or let the pattern match the mark that separates two numbers",
        )
    return value


class _TooLong(Exception):  # noqa: N818 - caught below
    pass


@contextmanager
def _time_limit(source: Source) -> Iterator[None]:
    """Ends a search of much processor time with an error, by a signal that the search handles from
    time to time. Outside of the main thread, which alone receives signals, there is no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_SECONDS)
    try:
        yield
    except _TooLong:
        raise LongshoreError(
            f"{source.name}: the search for the pattern took more than {MAX_SECONDS:g} s of the processor; write a "
            "simpler pattern without nested repetitions such as (a+)+"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
