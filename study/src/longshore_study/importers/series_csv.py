"""Importer of any CSV with a time and a line per measurement.

    time,commit,rate,size                 longshore import csv FILE --time time --version commit
    2026-11-01T12:00:00,3f2a,11.5,1024        --figure rate --unit GB/s

Other columns are factors, unless they differ in most lines.
"""

from collections.abc import Iterator

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.importers.csv_table import read_table
from longshore_study.importers.imported import Imported, Options, Source
from longshore_study.importers.series import SeriesFigure, level_of, runs_from_figures, time_of, value_of

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
    levels = {name: len({line.texts[name] for line in lines}) for name in others}
    few = len(lines) < _MIN_LINES
    factors = list(columns.factors) or [name for name in others if few or 2 * levels[name] <= len(lines)]

    def found() -> Iterator[SeriesFigure]:
        for line in lines:
            time = time_of(source, line.number, line.texts[columns.time])
            version = line.texts[columns.version] if columns.version else None
            variant = {name: level_of(line.texts[name]) for name in factors if line.texts[name]}
            for name in figures:
                value = value_of(source, line.number, name, line.texts[name])
                if value is not None:
                    unit, better = choice.unit, choice.better
                    yield SeriesFigure(line.number, time, version or None, variant, name, value, unit, better)

    found_runs = runs_from_figures(source, options.program or "csv", found(), options.ranks)
    if found_runs and others and not columns.factors:
        ignored = ", ".join(name for name in others if name not in factors)
        text = f"the rows are told apart by {', '.join(factors) or 'no other column'}"
        text += f"; not used, since they differ in most lines: {ignored}" if ignored else ""
        found_runs[0].warnings.append(f"{source.name}: {text} (--by COLUMN chooses)")
    return found_runs
