"""Importer of published STREAM results as CSV tables.

    stage,comm,tasks,memory,stream_ep_GBps_1_locale,stream_ep_GBps_per_node_16_locales
    initial,none,qthreads,cstdlib,35,

A column named stream_<scope>_GBps_..._<N>_locale(s) or _node(s) has the GB/s per node of the triad
on N nodes, or nothing where there was no measurement. The column `stage` (or `step`) names the
steps of work in the order of the lines. All other columns are factors; `comm` becomes `transport`.
Lines that begin with # are comments.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.store import records
from longshore_study.store.records import Record

STEP_COLUMNS = ("stage", "step")
FACTOR_NAMES = {"comm": "transport", "communication": "transport", "tasking": "tasks", "allocator": "memory"}
FIGURE_COLUMN = re.compile(r"stream_(ep|global)_GBps(?:_per_node)?_(\d+)_(?:locale|node)s?")


@dataclass(frozen=True)
class _Line:
    number: int
    texts: Mapping[str, str]
    """The text in each column."""


def read(source: Source, options: Options) -> list[Imported]:
    """One run per column of results, since the columns have different numbers of nodes."""
    del options
    header, lines = _table(source)
    figures = {name: match for name in header if (match := FIGURE_COLUMN.fullmatch(name))}
    if not figures:
        names = ", ".join(header)
        raise _error(source, 1, f"no column of results such as stream_ep_GBps_1_locale (columns: {names})")
    step_column = next((name for name in STEP_COLUMNS if name in header), None)
    factors = [name for name in header if name not in figures and name != step_column]
    steps = list(dict.fromkeys(line.texts[step_column] for line in lines)) if step_column else []
    runs = []
    for column, match in figures.items():
        results = list(_results(source, lines, column, scope=match[1], factors=factors, step_column=step_column))
        if results:
            runs.append(_imported(results, int(match[2]), steps))
    if not runs:
        raise _error(source, lines[-1].number, "the table has no results")
    return runs


def _imported(results: list[Record], nodes: int, steps: list[str]) -> Imported:
    cell: dict[str, Any] = {"program": "stream-csv", "nodes": nodes}
    order = [{"name": name, "pattern": "stream", "levels": {"step": name}} for name in steps]
    return Imported(cell, whole_records({"program": {"name": "STREAM"}, "nodes": nodes}, results), steps=order)


def _table(source: Source) -> tuple[list[str], list[_Line]]:
    # Comments become empty lines, so that line numbers stay right.
    text = "\n".join("" if line.startswith("#") else line for line in source.text.split("\n"))
    reader = csv.reader(io.StringIO(text), strict=True)
    lines: list[_Line] = []
    try:
        header = [name.strip() for name in next((texts for texts in reader if texts), [])]
        for name in header:
            if not name or header.count(name) > 1:
                raise _error(source, 1, f"each column needs its own name, found '{name}'")
        for texts in reader:
            if not any(text.strip() for text in texts):
                continue
            if len(texts) != len(header):
                message = f"{len(texts)} values, but the header has {len(header)} columns"
                raise _error(source, reader.line_num, message)
            lines.append(_Line(reader.line_num, dict(zip(header, (text.strip() for text in texts), strict=True))))
    except csv.Error as error:
        raise _error(source, reader.line_num, f"not CSV: {error}") from None
    if not lines:
        raise _error(source, 1, "the table has a header but no lines")
    return header, lines


def _results(
    source: Source, lines: list[_Line], column: str, *, scope: str, factors: list[str], step_column: str | None
) -> Iterator[Record]:
    seen: dict[str, int] = {}
    for line in lines:
        if not line.texts[column]:
            continue
        variant: dict[str, Any] = {"scope": scope, "kernel": "triad"}
        for name in factors:
            if line.texts[name]:
                variant[FACTOR_NAMES.get(name, name)] = line.texts[name]
        if step_column is not None:
            if not line.texts[step_column]:
                raise _error(source, line.number, f"the line has no {step_column}")
            variant["step"] = line.texts[step_column]
        layer = str(sorted(variant.items()))
        if layer in seen:
            raise _error(source, line.number, f"a second result for the layer of line {seen[layer]}")
        seen[layer] = line.number
        value = _figure(source, line, column)
        yield aggregate_result("stream", variant, {"bandwidth": records.metric(value, "GB/s")})


def _figure(source: Source, line: _Line, column: str) -> float:
    try:
        value = float(line.texts[column])
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise _error(source, line.number, f"{column}: '{line.texts[column]}' is not a bandwidth in GB/s")
    return value


def _error(source: Source, line: int, message: str) -> LongshoreError:
    return LongshoreError(f"{source.name}:{line}: {message}")
