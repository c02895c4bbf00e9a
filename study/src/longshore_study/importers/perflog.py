"""Importer of performance logs of ReFrame 4: tables with a line per run of a test, with `|` between
columns. The unit of each figure is in a column of its own (`copy_bw_value`, `copy_bw_unit`)."""

from collections.abc import Iterator
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.importers.csv_table import read_table
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.series import SeriesFigure, better_of, level_of, runs_from_figures, time_of, value_of

_TIMES = ("job_completion_time", "completion_time", "time", "timestamp", "datetime")
_NAMES = ("display_name", "descr", "name", "unique_name", "test", "check")
_FACTORS = ("system", "partition", "environ", "environment", "num_tasks", "num_tasks_per_node")


def read(source: Source, options: Options) -> list[Imported]:
    delimiter = "|" if "|" in source.text.partition("\n")[0] else ","
    header, lines = read_table(source, delimiter, open_ended=True)
    time_column = next((name for name in _TIMES if name in header), None)
    figures = [name.removesuffix("_value") for name in header if name.endswith("_value")]
    if time_column is None or not figures:
        raise LongshoreError(
            f"{source.name}:1: a performance log of ReFrame 4 has a column of times (job_completion_time) and columns "
            f"such as copy_bw_value (columns: {', '.join(header)[:200]})"
        )
    name_column = next((name for name in _NAMES if name in header), None)
    factors = [name for name in header if name in _FACTORS]

    def found() -> Iterator[SeriesFigure]:
        for line in lines:
            if line.texts.get("result", "pass").lower() in ("fail", "failed"):
                continue
            time = time_of(source, line.number, line.texts[time_column])
            variant: dict[str, Any] = {name: level_of(line.texts[name]) for name in factors if line.texts[name]}
            if name_column:
                variant["test"] = line.texts[name_column]
            for name in figures:
                value = value_of(source, line.number, f"{name}_value", line.texts[f"{name}_value"])
                unit = line.texts.get(f"{name}_unit", "")
                better = better_of(line.texts.get(f"{name}_lower_thres"), line.texts.get(f"{name}_upper_thres"), unit)
                if value is not None and unit:
                    yield SeriesFigure(line.number, time, None, variant, name, value, unit, better)

    return runs_from_figures(source, options.program or "reframe", found(), options.ranks)
