"""Importer of tables with a line per measurement: any CSV with a time, and the performance logs of
ReFrame (`|` between columns).

    time,commit,rate,size                 longshore import csv FILE --time time --version commit
    2026-11-01T12:00:00,3f2a,11.5,1024        --figure rate --unit GB/s

A log of ReFrame 4 names its columns, and has the unit of each figure in a column of its own
(`copy_bw_value`, `copy_bw_unit`). Other columns are factors, unless they differ in most lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.importers.csv_table import TableLine, read_table
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.series import SeriesFigure, better_of, runs_from_figures, time_of, value_of

_LOG_TIMES = ("job_completion_time", "completion_time", "time", "timestamp", "datetime")
_LOG_NAMES = ("display_name", "descr", "name", "unique_name", "test", "check")
_LOG_FACTORS = ("system", "partition", "environ", "environment", "num_tasks", "num_tasks_per_node")
_MIN_LINES = 4
"""With fewer lines, a factor may differ in every line."""


def read(source: Source, options: Options) -> list[Imported]:
    columns = options.columns
    choice = options.metric
    if columns is None or choice is None:
        raise UsageError("format 'csv' needs --time COLUMN, --figure COLUMN and --unit UNIT")
    header, lines = read_table(source, open_ended=True)
    figures = [name.strip() for name in choice.name.split(",")]
    for name in (columns.time, columns.version, *columns.factors, *figures):
        if name is not None and name not in header:
            raise LongshoreError(f"{source.name}:1: no column '{name}' (columns: {', '.join(header)})")
    used = {columns.time, columns.version, *figures}
    others = [name for name in header if name not in used]
    factors = list(columns.factors) or [name for name in others if not _differs_in_most(lines, name)]

    def found() -> Iterator[SeriesFigure]:
        for line in lines:
            place = line.offset
            time = time_of(source, place, line.texts[columns.time])
            version = line.texts[columns.version] if columns.version else None
            variant = {name: _level(line.texts[name]) for name in factors if line.texts[name]}
            for name in figures:
                value = value_of(source, place, name, line.texts[name])
                if value is not None:
                    yield SeriesFigure(place, time, version or None, variant, name, value, choice.unit, choice.better)

    found_runs = runs_from_figures(source, options.program or "csv", found(), options.ranks)
    if found_runs and others and not columns.factors:
        ignored = ", ".join(name for name in others if name not in factors)
        text = f"the rows are told apart by {', '.join(factors) or 'no other column'}"
        text += f"; not used, since they differ in most lines: {ignored}" if ignored else ""
        found_runs[0].warnings.append(f"{source.name}: {text} (--by COLUMN chooses)")
    return found_runs


def read_log(source: Source, options: Options) -> list[Imported]:
    """Reads a performance log of ReFrame."""
    delimiter = "|" if "|" in source.text.partition("\n")[0] else ","
    header, lines = read_table(source, delimiter, open_ended=True)
    time_column = next((name for name in _LOG_TIMES if name in header), None)
    figures = [name.removesuffix("_value") for name in header if name.endswith("_value")]
    if time_column is None or not figures:
        raise LongshoreError(
            f"{source.name}:1: a performance log of ReFrame 4 has a column of times (job_completion_time) and columns "
            f"such as copy_bw_value (columns: {', '.join(header)[:200]})"
        )
    name_column = next((name for name in _LOG_NAMES if name in header), None)
    factors = [name for name in header if name in _LOG_FACTORS]

    def found() -> Iterator[SeriesFigure]:
        for line in lines:
            if line.texts.get("result", "pass").lower() in ("fail", "failed"):
                continue
            place = line.offset
            time = time_of(source, place, line.texts[time_column])
            variant: dict[str, Any] = {name: _level(line.texts[name]) for name in factors if line.texts[name]}
            if name_column:
                variant["test"] = line.texts[name_column]
            for name in figures:
                value = value_of(source, place, f"{name}_value", line.texts[f"{name}_value"])
                unit = line.texts.get(f"{name}_unit", "")
                better = better_of(line.texts.get(f"{name}_lower_thres"), line.texts.get(f"{name}_upper_thres"), unit)
                if value is not None and unit:
                    yield SeriesFigure(place, time, None, variant, name, value, unit, better)

    return runs_from_figures(source, options.program or "reframe", found(), options.ranks)


def _differs_in_most(lines: Sequence[TableLine], name: str) -> bool:
    return len(lines) >= _MIN_LINES and 2 * len({line.texts[name] for line in lines}) > len(lines)


def _level(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[-+]?\d{1,15}", text) else text
