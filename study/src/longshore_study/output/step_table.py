"""The output of `show --steps`: JSON, or tables with a row per step."""

import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from longshore_study.analyses.steps import StepCell, StepTable
from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes
from longshore_study.compare.contrast import Contrast
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.metrics.variant_rows import LAYOUT_COLUMNS
from longshore_study.store.selection import heading

MAX_WIDTH = 160  # characters, if the output is no terminal
_ALL_STEPS = "all steps"
_ORDER = (
    *LAYOUT_COLUMNS, "scope", "kernel", "elements", "type", "transport", "strategy", "algorithm", "mode", "tasks",
    "memory",
)  # fmt: skip


def document(tables: Sequence[StepTable]) -> dict[str, Any]:
    return {
        "schema": 1,
        "tables": [
            {
                **attributes(table, "study tag pattern metric unit"),
                "steps": [attributes(step, "name changes levels") for step in table.steps],
                "columns": table.columns,
                "rows": [
                    {"step": step.name, "column": column, **_cell_document(cell)}
                    for step, row in zip(table.steps, table.cells, strict=True)
                    for column, cell in zip(table.columns, row, strict=True)
                ],
            }
            for table in tables
        ],
    }


def _cell_document(cell: StepCell) -> dict[str, Any]:
    return {
        **attributes(cell, "value spread"),
        "launches": len({f.launch for f in cell.figures}),
        "reason": cell.why,
        **attributes(cell, "no_change against"),
        "gain": _gain_document(cell.gain),
        "gain_of_all_steps": _gain_document(cell.overall),
        "warnings": cell.doubts,
    }


def _gain_document(gain: Contrast | None) -> dict[str, Any] | None:
    return attributes(gain, "ratio interval units design why_no_interval") if gain else None


Notes = dict[str, int]
"""Texts below a table, with their numbers, which cells show."""


def note_number(text: str, notes: Notes) -> int:
    return notes.setdefault(text, len(notes) + 1)


def render(tables: Sequence[StepTable]) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else MAX_WIDTH
    for table in tables:
        notes: Notes = {}
        for indices in split_to_fit(table, partial(_width, table), width):
            title, columns, rows = _grid(table, indices, notes)
            terminal.print_table(title, columns, rows, right=columns[1:])
            print()
        for text, number in notes.items():
            print(f"[{number}] {text}")
        for line in legend(table):
            print(line)
        print()


def legend(table: StepTable) -> list[str]:
    gains = [cell.gain for row in table.cells for cell in row if cell.gain]
    lines = []
    if gains:
        lines.append(
            f"{table.unit}: geometric mean over launches; xN: N times as good as the step before, in parentheses its "
            "95 % interval"
        )
    if any(gain.interval and shows_nothing(gain) for gain in gains):
        lines.append("~ the interval includes 1: the launches do not show that the step changed anything")
    if any(cell.no_change for row in table.cells for cell in row):
        lines.append("= the step changes nothing here, because its factors cannot be chosen here")
    if any(gain.interval is None for gain in gains):
        reasons = sorted({gain.why_no_interval for gain in gains if gain.interval is None and gain.why_no_interval})
        lines.append(f"no interval: {'; '.join(reasons)}")
    return lines


def shows_nothing(gain: Contrast) -> bool:
    return gain.interval is not None and gain.interval[0] <= 1.0 <= gain.interval[1]


def split_to_fit(table: StepTable, width_of: Callable[[Sequence[int]], int], widest: int) -> list[list[int]]:
    """Groups the columns, as indices, into tables that are at most `widest` wide if possible.
    Groups that are too wide are split by the factors of the layout first, then by the other
    factors."""
    groups = [list(range(len(table.columns)))]
    names = column_order(terminal.varying(table.columns)[1])
    for name in names:
        if all(width_of(group) <= widest for group in groups):
            break
        parted: list[list[int]] = []
        for group in groups:
            split = width_of(group) > widest
            levels = [(str(table.columns[index].get(name)) if split else "", index) for index in group]
            parts = grouped(levels, lambda pair: pair[0]).values()
            parted += [[index for _, index in part] for part in parts]
        groups = parted
    return groups


def column_order(names: Iterable[str]) -> list[str]:
    """The factors in their order: the layout, then from the outermost to the innermost layer."""
    return sorted(names, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))


def _width(table: StepTable, indices: Sequence[int]) -> int:
    _, columns, rows = _grid(table, indices, {})
    return sum(max(map(len, column)) + 2 for column in zip(columns, *rows, strict=True))


def _grid(table: StepTable, indices: Sequence[int], notes: Notes) -> tuple[str, list[str], list[list[str]]]:
    """Title, heading and rows. A factor that distinguishes columns has a line above the steps."""
    chosen = [table.columns[index] for index in indices]
    shared, names = terminal.varying(chosen)
    names = column_order(names)
    heads = [[name.replace("_", "-"), *(terminal.levels(column, [name])[0] for column in chosen)] for name in names]
    heads = heads or [["step", table.unit]]
    rows = [*heads[1:]]
    if names:
        rows.append(["", *("" for _ in chosen)])
    rows += [
        [step.name, *(_cell_text(row[index], notes) for index in indices)]
        for step, row in zip(table.steps, table.cells, strict=True)
    ]
    gains = [overall(table, index) for index in indices]
    if any(gains):
        rows.append([_ALL_STEPS, *(_gain_text(gain) if gain else "" for gain in gains)])
    shared_text = terminal.shared_factors({name: shared[name] for name in column_order(shared)})
    unit = unit_of_whom(table.unit, table.per) + (f", {heading(table.simulated)}" if table.simulated else "")
    title = f"{terminal.side(table.study, table.tag)}: {table.pattern} {table.metric}, {unit}{shared_text}"
    return title, heads[0], rows


def overall(table: StepTable, column: int) -> Contrast | None:
    """The gain of all steps together in a column."""
    return next((row[column].overall for row in reversed(table.cells) if row[column].overall), None)


def _cell_text(cell: StepCell, notes: Notes) -> str:
    if cell.value is None:
        why = cell.why or ""
        return f"{why.partition(':')[0] if ':' in why else '-'} [{note_number(why, notes)}]"
    text = f"{cell.value:#.3g}".rstrip(".") if cell.value < 1000 else f"{cell.value:.0f}"
    if cell.no_change:
        text += " ="
    elif cell.gain:
        text += f" {_gain_text(cell.gain)}"
    if cell.doubts:
        text += f" invalid? [{note_number('; '.join(cell.doubts), notes)}]"
    return text


def _gain_text(gain: Contrast) -> str:
    text = ("~" if shows_nothing(gain) else "") + f"x{gain.ratio:.2f}"
    return text + (f" ({gain.interval[0]:.2f} to {gain.interval[1]:.2f})" if gain.interval else "")
