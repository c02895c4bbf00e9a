"""Matches the figures of the two sides of a comparison: one row for each metric of a variant in a
cell of a study. A row that only one side measured is kept, so that it is reported as missing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from longshore_study.base.errors import require_known
from longshore_study.base.expression import Expression
from longshore_study.base.json_values import canonical
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import Figure, Key, Measurements
from longshore_study.patterns import CONTROL
from longshore_study.store.launch_store import Launch


def pair(
    sides: Sequence[Measurements], where: Expression | None = None, ignore: Collection[str] = ()
) -> list[JudgedRow]:
    """A row for everything that a side measured, failed to measure or skipped, except variants that
    both sides skipped.

    `where` selects rows, besides the rows of controls. `ignore` names factors that do not
    distinguish rows.
    """
    _require_factors(ignore, sides)
    figures: dict[Key, tuple[list[Figure], list[Figure]]] = {}
    absent: dict[Key, list[str | None]] = defaultdict(lambda: [None, None])
    for side, measured in enumerate(sides):
        for figure in measured.figures:
            figures.setdefault(_without(figure.key, ignore), ([], []))[side].append(figure)
        for missing, reason in measured.absent.items():
            key = _without(missing, ignore)
            figures.setdefault(key, ([], []))
            absent[key][side] = reason
    keys = list(figures)
    if where is not None:
        selected = set(where.select([key for key in keys if key.pattern != CONTROL], known_factors))
        keys = [key for key in keys if key.pattern == CONTROL or key in selected]
    failed = [
        {canonical(_remaining(launch.cell, ignore)): f"failed: {launch.problem}" for launch in measured.failed}
        for measured in sides
    ]
    rows = []
    for key in keys:
        reasons = [absent[key][side] or cells.get(key.cell_text) for side, cells in enumerate(failed)]
        reference, new = figures[key]
        rows.append(JudgedRow(key, tuple(reference), tuple(new), (reasons[0], reasons[1])))
    return [
        row
        for row in rows
        if row.figures or any(reason is not None and not reason.startswith("skipped") for reason in row.absent)
    ]


def _require_factors(ignore: Collection[str], sides: Sequence[Measurements]) -> None:
    if not ignore:
        return
    keys = {key for measured in sides for key in (*(figure.key for figure in measured.figures), *measured.absent)}
    known = {name for key in keys for name in known_factors(key) if name not in ("pattern", "metric")}
    for name in ignore if known else ():
        require_known(name, known, "factor")


def failed_without_row(
    sides: Sequence[Measurements], rows: Iterable[JudgedRow], ignore: Collection[str] = ()
) -> list[Launch]:
    """The failed launches of cells that neither side measured, so that no row reports them."""
    measured_cells = {row.key.cell_text for row in rows}
    return [
        launch
        for measured in sides
        for launch in measured.failed
        if canonical(_remaining(launch.cell, ignore)) not in measured_cells
    ]


def known_factors(key: Key) -> dict[str, Any]:
    """The names that a condition (`--where`) can use, with their values in this row."""
    return {"study": key.study, "metric": key.metric, **key.factors}


def _without(key: Key, ignore: Collection[str]) -> Key:
    if not ignore:
        return key
    variant, cell = (canonical(_remaining(factors, ignore)) for factors in (key.variant, key.cell))
    return replace(key, study="" if "study" in ignore else key.study, variant_text=variant, cell_text=cell)


def _remaining(factors: dict[str, Any], ignore: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in factors.items() if name not in ignore}


def disjoint_factors(rows: Iterable[JudgedRow]) -> dict[str, tuple[list[Any], list[Any]]]:
    """The factors that explain why no row has figures on both sides: those without a common value.
    Each comes with the values of the reference and of the new side. Empty if a row has figures on
    both sides, or if one side has no figures."""
    values: dict[str, tuple[dict[str, Any], dict[str, Any]]] = defaultdict(lambda: ({}, {}))
    sides = set()
    for row in rows:
        if row.reference and row.new:
            return {}
        if row.key.pattern != CONTROL and row.figures:
            sides.add(bool(row.new))
            for name, value in row.key.told.items():
                values[name][1 if row.new else 0][str(value)] = value
    return {
        name: (list(reference.values()), list(new.values()))
        for name, (reference, new) in values.items()
        if len(sides) == 2 and not reference.keys() & new.keys()
    }
