"""The output of `longshore show`: JSON, or tables with a line per variant, the best marked."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes
from longshore_study.base.near_and_far import nanoseconds
from longshore_study.metrics.launch_metrics import Measurements, unit_of_whom
from longshore_study.metrics.variant_rows import CHOICES, LAYOUT_COLUMNS, VariantRow
from longshore_study.output.rows import grouped_by

STATISTIC = "median over launches"
"""The statistic of these tables; `compare` uses geometric means."""


def document(rows: Sequence[VariantRow], measured: Measurements) -> dict[str, Any]:
    return {
        "schema": 1,
        "statistic": STATISTIC,
        "rows": [
            {
                **attributes(row, "study tag session pattern variant"),
                "between": row.cell,
                **attributes(row, "metrics launches main spread best of_best imported"),
                "cache_line_seconds": {
                    name: {"launches": len(seconds), "seconds": median(seconds)}
                    for name, seconds in row.cache_line_seconds.items()
                },
                "warnings": row.doubts,
            }
            for row in rows
        ],
        "absent": [
            {"study": key.study, "pattern": key.pattern, "variant": key.variant, "between": key.cell, "reason": reason}
            for key, reason in measured.absent.items()
        ],
        "problems": measured.problems,
        "partial": [f"{launch.path}: {launch.envelope['partial']}" for launch in measured.partial],
    }


def render(rows: Sequence[VariantRow], measured: Measurements, *, verbose: bool) -> None:
    for (pattern, metric), members in grouped_by(rows, "pattern main").items():
        _print_pattern(pattern, metric, members, verbose=verbose)
        print()
    _print_absent(measured, verbose=verbose)
    for launch in measured.partial:
        print(f"warning: {launch.path}: partial ({launch.envelope['partial']})")
    for problem in measured.problems:
        terminal.print_line(f"warning: not in the tables: {problem}", "failed")


def _print_pattern(pattern: str, metric: str, rows: Sequence[VariantRow], *, verbose: bool) -> None:
    described = [
        {"tag": row.tag, "study": row.study, **({"session": row.session} if row.session else {})}
        | {**row.cell, **row.variant}
        for row in rows
    ]
    shared, names = terminal.varying(described)
    # The name of a test comes before its sizes, so that rows of several benchmarks are
    # distinguished by the test and not by a size.
    names.sort(
        key=lambda name: (name not in ("tag", "study"), name not in LAYOUT_COLUMNS, name != "test", name in CHOICES)
    )
    implied = [] if verbose else _implied(names, described)
    unit = unit_of_whom(rows[0].metrics[metric]["unit"], rows[0].metrics[metric].get("per", ""))
    notes = [_note(row, every_row=all(other.imported for other in rows)) for row in rows]
    bests = ["best" if row.best else "" if row.of_best is None else f"{100 * row.of_best:.0f} %" for row in rows]
    columns = [name for name in names if name not in implied] + [unit, "launches"]
    body = [
        [*terminal.levels(factors, columns[:-2]),
         terminal.number(row.value), str(row.launches)]
        for row, factors in zip(rows, described, strict=True)
    ]  # fmt: skip
    for heading, texts in (("of best", bests), ("note", notes)):
        if any(texts):
            columns.append(heading)
            body = [[*line, text] for line, text in zip(body, texts, strict=True)]
    shown = {name: value for name, value in shared.items() if value not in ("", {})}
    imported = ", imported" if all(row.imported for row in rows) else ""
    title = f"{pattern}: {metric}, {STATISTIC} ({terminal.factors(shown)}{imported})"
    right = {unit, "launches", "of best", *LAYOUT_COLUMNS}
    terminal.print_table(title, columns, body, right=right, styles=["best" if row.best else None for row in rows])
    if implied:
        levels = {
            name: dict.fromkeys(terminal.factor(factors[name]) for factors in described if name in factors)
            for name in implied
        }
        listed = "; ".join(f"{name} {' or '.join(values)}" for name, values in levels.items())
        print(f"implied by these columns: {listed}  (-v: in columns)")


def _implied(names: Sequence[str], described: Sequence[dict[str, Any]]) -> list[str]:
    """The factors that the factors before them determine. The layout is never among them."""
    implied: list[str] = []
    kept: list[str] = []
    for name in names:
        without = {tuple(str(row.get(column)) for column in kept) for row in described}
        within = {tuple(str(row.get(column)) for column in (*kept, name)) for row in described}
        if kept and len(within) == len(without) and name not in LAYOUT_COLUMNS:
            implied.append(name)
        else:
            kept.append(name)
    return implied


def _note(row: VariantRow, *, every_row: bool) -> str:
    doubt = f"invalid? {'; '.join(row.doubts)}" if row.doubts else ""
    imported = "imported" if row.imported and not every_row else ""
    return "; ".join(text for text in (doubt, _cores(row), imported) if text)


def _cores(row: VariantRow) -> str:
    """The numbers of launches with near and with far cores. Empty if all were alike."""
    groups = [
        f"{name} in {terminal.count(len(seconds), 'launch')} ({nanoseconds(seconds)})"
        for name, seconds in row.cache_line_seconds.items()
        if name != "alike"
    ]
    return f"cores {', '.join(groups)}" if groups else ""


def _print_absent(measured: Measurements, *, verbose: bool) -> None:
    """Prints the number of variants without a figure by reason; with `verbose`, each of them."""
    for reason, members in grouped(measured.absent.items(), lambda absent: absent[1]).items():
        print(f"no figure of {terminal.count(len(members), 'variant')}: {reason}")
        for key, _ in members if verbose else ():
            print(f"    {key.pattern} {terminal.factors({**key.cell, **key.variant})}")
