"""The runs of a series that others measured: figures of many times, often of many versions.

Each time and version becomes a session, so that `history` and `compare` have the spread between
sessions. A version becomes the tag, unless the user gives one.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from longshore_study.base.units import is_above_zero
from longshore_study.importers.imported import Imported, Source, aggregate_result, known, whole_records
from longshore_study.importers.run_texts import finite_or_nan
from longshore_study.store import records

_LATEST_SECONDS = 4e9
"""A larger number is no time in seconds since 1970. The limit is in the year 2096."""
_OF_TIME = ("s", "ms", "us", "ns", "min", "h", "sec", "seconds")


@dataclass(frozen=True, slots=True)
class SeriesFigure:
    """A figure of a series, with its line for messages."""

    line: int
    time: dt.datetime
    version: str | None
    variant: Mapping[str, Any]
    metric: str
    value: float
    unit: str
    better: str


def runs_from_figures(
    source: Source, program: str, figures: Iterable[SeriesFigure], ranks: int | None = None
) -> list[Imported]:
    """One run per time and version. If a variant has several figures of one metric for one time and
    version, each further figure is in a further run of the same session."""
    sessions: dict[tuple[dt.datetime, str | None], list[dict[str, tuple[Mapping[str, Any], dict[str, Any]]]]] = {}
    for figure in figures:
        if figure.value <= 0 and is_above_zero(figure.unit):
            raise source.error_in_line(
                figure.line, f"{figure.metric}: a figure of {figure.value:g} {figure.unit} is not possible"
            )
        launches = sessions.setdefault((figure.time, figure.version), [])
        key = str(sorted(figure.variant.items()))
        for launch in launches:
            if figure.metric not in launch.get(key, ({}, {}))[1]:
                break
        else:
            launch = {}
            launches.append(launch)
        metrics = launch.setdefault(key, (figure.variant, {}))[1]
        metrics[figure.metric] = records.metric(figure.value, figure.unit, figure.better)
    cell = known(program=program, ranks=ranks or None)
    return [
        Imported(
            cell,
            whole_records(
                {"program": {"name": program, "version": version}, "ranks": ranks},
                [aggregate_result(program, variant, metrics) for variant, metrics in launch.values()],
            ),
            started=time.isoformat(),
            session=time.strftime("%Y-%m-%dT%H-%M-%S"),
            tag=version,
        )
        for (time, version), launches in sorted(sessions.items(), key=lambda item: (item[0][0], item[0][1] or ""))
        for launch in launches
    ]


def time_of(source: Source, line: int, text: str) -> dt.datetime:
    """A time with a zone: ISO 8601, or seconds since 1970. Without a zone it is taken as UTC."""
    try:
        seconds = float(text)
        is_date = text.strip().isdecimal() and len(text.strip()) <= 8  # such as 20261127
        if 0 < seconds < _LATEST_SECONDS and not is_date:
            return dt.datetime.fromtimestamp(seconds, dt.UTC)
    except ValueError:
        pass
    try:
        time = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        raise source.error_in_line(
            line, f"'{text[:40]}' is no time; it is like 2026-11-27T13:05:00+00:00, or seconds since 1970"
        ) from None
    return time if time.tzinfo else time.replace(tzinfo=dt.UTC)


def value_of(source: Source, line: int, column: str, text: str) -> float | None:
    """The figure in a text. None for an empty text, and for words for a missing figure."""
    if text.strip().lower() in ("", "nan", "null", "none", "n/a", "na", "-"):
        return None
    value = finite_or_nan(text)
    if math.isnan(value):
        raise source.error_in_line(line, f"'{text[:40]}' below {column} is not a number")
    return value


def level_of(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[-+]?\d{1,15}", text) else text


def better_of(lower: object, upper: object, unit: str) -> str:
    """Whether higher or lower values are better. With a lower bound, higher is better; with an
    upper bound, lower. Logs of ReFrame have the word None for no bound. Without a bound, lower is
    better for times."""
    has_lower, has_upper = (bound not in (None, "", "None", "null") for bound in (lower, upper))
    if has_lower != has_upper:
        return "higher" if has_lower else "lower"
    return "lower" if unit.strip() in _OF_TIME else "higher"
