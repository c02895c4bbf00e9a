"""Importer of any printed output by a regular expression. Each match is a value of the metric: the
group named `value`, or the only group. Other named groups are its factors.

Some regular expressions take practically forever, so the search ends after a few seconds.
"""

from __future__ import annotations

import math
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.importers.imported import Imported, MetricChoice, Options, Source, whole_records
from longshore_study.store import records

MOST_SECONDS = 5.0
MOST_VALUES = 100_000
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
            if len(values) >= MOST_VALUES:
                raise source.error(match.start(), f"more than {MOST_VALUES} values")
            values.append((_factors(match), _value(source, match, group)))
    if not values:
        raise LongshoreError(f"{source.name}: nothing in the output matches the pattern '{choice.expression}'")
    return [values_as_run(choice, values, options)]


def values_as_run(choice: MetricChoice, values: list[tuple[dict[str, Any], float]], options: Options) -> Imported:
    """One run. Values with the same factors are repetitions, of which the median is stored."""
    # Not named after the file: outputs of two days have different names but are one program.
    program, ranks = options.program or choice.name, options.ranks
    groups: dict[str, tuple[dict[str, Any], list[float]]] = {}
    for factors, value in values:
        groups.setdefault(str(sorted(factors.items())), (factors, []))[1].append(value)
    results = []
    for factors, repetitions in groups.values():
        ordered = sorted(repetitions)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        one = {choice.name: records.metric(median, choice.unit, choice.better)}
        results.append(records.result_record(program, factors, one, aggregate=True, repetitions=len(repetitions)))
    header = {"program": {"name": program}, "ranks": ranks}
    return Imported({"program": program, **({"ranks": ranks} if ranks else {})}, whole_records(header, results))


def _factors(match: re.Match[str]) -> dict[str, Any]:
    named = {
        name: text[:_LONGEST_LEVEL] for name, text in match.groupdict().items() if name != "value" and text is not None
    }
    return {name: int(text) if re.fullmatch(r"[-+]?\d{1,15}", text) else text for name, text in named.items()}


def _value(source: Source, match: re.Match[str], group: str | int) -> float:
    text = match[group]
    try:
        value = float((text or "").strip().replace("D", "E").replace("d", "e"))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise source.error(
            match.start(), f"'{(text or '')[:40]}' is not a number; the metric is the group named value, or the first"
        )
    return value


class _TooLong(Exception):  # noqa: N818 - caught below
    pass


@contextmanager
def _time_limit(source: Source) -> Iterator[None]:
    """Ends a long search with an error. The search handles signals now and then. Signals reach
    only the main thread, and there is no other thread here."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    except _TooLong:
        raise LongshoreError(
            f"{source.name}: the search for the pattern took more than {MOST_SECONDS:g} s; write a simpler pattern "
            "without nested repetitions such as (a+)+"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
