"""Any printed output, by a regular expression of the study file or the command line: each match is
a figure. The group named `value` is the figure, or the only group; other named groups are factors
of it.

A regular expression can take longer than the universe to find nothing; the search is ended after a
few seconds.
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
from longshore_study.importers.figure_choice import FigureChoice
from longshore_study.importers.imported import Imported, Options, Source, whole_records
from longshore_study.store import records

MOST_SECONDS = 5.0
MOST_FIGURES = 100_000
_LONGEST_LEVEL = 200


def read(source: Source, options: Options) -> list[Imported]:
    choice = options.figure
    if choice is None or choice.expression is None:
        raise UsageError("format 'regex' needs --pattern, --figure and --unit, or these keys in the study file")
    expression = re.compile(choice.expression, re.MULTILINE)
    group: str | int = "value" if "value" in expression.groupindex else 1
    metrics: list[tuple[dict[str, Any], float]] = []
    with _time_limit(source):
        for match in expression.finditer(source.text):
            if len(metrics) >= MOST_FIGURES:
                raise source.error(match.start(), f"more than {MOST_FIGURES} figures")
            metrics.append((_factors(match), _figure(source, match, group)))
    if not metrics:
        raise LongshoreError(f"{source.name}: nothing in the output matches pattern '{choice.expression}'")
    return [figures_as_run(choice, metrics, options)]


def figures_as_run(choice: FigureChoice, metrics: list[tuple[dict[str, Any], float]], options: Options) -> Imported:
    """One run; figures of the same factors are repetitions of one thing, and their median
    counts."""
    # Not after the file: the outputs of two days have two names, and are one program.
    program, ranks = options.program or choice.name, options.ranks
    groups: dict[str, tuple[dict[str, Any], list[float]]] = {}
    for factors, figure in metrics:
        groups.setdefault(str(sorted(factors.items())), (factors, []))[1].append(figure)
    results = []
    for factors, figures in groups.values():
        ordered = sorted(figures)
        middle = len(ordered) // 2
        median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        one = {choice.name: records.metric(median, choice.unit, choice.better)}
        results.append(records.result_record(program, factors, one, aggregate=True, repetitions=len(figures)))
    header = {"program": {"name": program}, "ranks": ranks}
    return Imported({"program": program, **({"ranks": ranks} if ranks else {})}, whole_records(header, results))


def _factors(match: re.Match[str]) -> dict[str, Any]:
    named = {
        name: text[:_LONGEST_LEVEL] for name, text in match.groupdict().items() if name != "value" and text is not None
    }
    return {name: int(text) if re.fullmatch(r"[-+]?\d{1,15}", text) else text for name, text in named.items()}


def _figure(source: Source, match: re.Match[str], group: str | int) -> float:
    text = match[group]
    try:
        figure = float((text or "").strip().replace("D", "E").replace("d", "e"))
    except ValueError:
        figure = math.nan
    if not math.isfinite(figure):
        raise source.error(
            match.start(), f"'{(text or '')[:40]}' is no number; the figure is the group named value, else the first"
        )
    return figure


class _TooLong(Exception):  # noqa: N818 - caught below
    pass


@contextmanager
def _time_limit(source: Source) -> Iterator[None]:
    """Ends what takes too long with an error. The search looks for signals now and then, so an
    alarm reaches it; alarms reach the main thread alone, and there is no other one here."""
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
            f"{source.name}: the pattern was searched for {MOST_SECONDS:g} s without an end; nested repetitions such "
            "as (a+)+ do that, write a simpler one"
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
