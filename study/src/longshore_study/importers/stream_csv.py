"""Importer of published STREAM results as CSV tables.

    stage,comm,tasks,memory,stream_ep_GBps_1_locale,stream_ep_GBps_per_node_16_locales
    initial,none,qthreads,cstdlib,35,

A column named stream_<scope>_GBps_..._<N>_locale(s) or _node(s) has the GB/s per node of the triad
on N nodes. A missing measurement is an empty field. The column `stage` (or `step`) names the steps
of work in the order of the lines. All other columns are factors; `comm` becomes `transport`. Lines
that begin with # are comments.
"""

import re
from collections.abc import Iterator
from typing import Any

from longshore_study.importers.csv_table import TableLine, read_table
from longshore_study.importers.imported import Imported, Options, Source, aggregate_result, whole_records
from longshore_study.importers.run_texts import finite_or_nan
from longshore_study.store import records
from longshore_study.store.records import Record

STEP_COLUMNS = ("stage", "step")
FACTOR_NAMES = {"comm": "transport", "communication": "transport", "tasking": "tasks", "allocator": "memory"}
FIGURE_COLUMN = re.compile(r"stream_(ep|global)_GBps(?:_per_node)?_(\d+)_(?:locale|node)s?")


def read(source: Source, options: Options) -> list[Imported]:
    """One run per column of results, since the columns have different numbers of nodes."""
    del options
    header, lines = read_table(source, comments=True)
    figures = {name: match for name in header if (match := FIGURE_COLUMN.fullmatch(name))}
    if not figures:
        names = ", ".join(header)
        raise source.error_in_line(1, f"no column of results such as stream_ep_GBps_1_locale (columns: {names})")
    step_column = next((name for name in STEP_COLUMNS if name in header), None)
    factors = [name for name in header if name not in figures and name != step_column]
    steps = list(dict.fromkeys(line.texts[step_column] for line in lines)) if step_column else []
    runs = []
    for column, match in figures.items():
        results = list(_results(source, lines, column, scope=match[1], factors=factors, step_column=step_column))
        if results:
            runs.append(_imported(results, int(match[2]), steps))
    if not runs:
        raise source.error_in_line(lines[-1].number, "the table has no results")
    return runs


def _imported(results: list[Record], nodes: int, steps: list[str]) -> Imported:
    cell: dict[str, Any] = {"program": "stream-csv", "nodes": nodes}
    order = [{"name": name, "pattern": "stream", "levels": {"step": name}} for name in steps]
    return Imported(cell, whole_records({"program": {"name": "STREAM"}, "nodes": nodes}, results), steps=order)


def _results(
    source: Source, lines: list[TableLine], column: str, *, scope: str, factors: list[str], step_column: str | None
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
                raise source.error_in_line(line.number, f"the line has no {step_column}")
            variant["step"] = line.texts[step_column]
        layer = str(sorted(variant.items()))
        if layer in seen:
            raise source.error_in_line(line.number, f"a second result for the layer of line {seen[layer]}")
        seen[layer] = line.number
        value = finite_or_nan(line.texts[column])
        if not value > 0:
            what = f"{column}: '{line.texts[column]}' is not a bandwidth in GB/s"
            raise source.error_in_line(line.number, what)
        yield aggregate_result("stream", variant, {"bandwidth": records.metric(value, "GB/s")})
