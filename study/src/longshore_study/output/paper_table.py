"""Tables for papers: a row per level of some factors, a column per level of another, and in each
cell the median over launches with its interval.

The interval is the 95 % interval of the median from order statistics, as Hoefler and Belli (SC
2015) advise. Fewer than six launches have no such interval: the table has their range instead.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.errors import LongshoreError, UsageError, require_known
from longshore_study.base.groups import grouped
from longshore_study.compare.level_order import in_order
from longshore_study.metrics.launch_metrics import Figure, unit_of_whom
from longshore_study.output import export_tables
from longshore_study.output.export_tables import latex_text
from longshore_study.patterns import CONTROL
from longshore_study.stats.median_interval import median_interval
from longshore_study.store.launch_store import Launch

_STATISTIC = "median over launches [95 % interval of the median; of fewer than 6 launches: their range]"
_MILLION = 1e6


def tables(
    figures: Sequence[Figure], launches: Sequence[Launch], rows: Sequence[str], column: str | None, form: str
) -> str:
    """A table per pattern, main metric and simulated machine, without controls. Without `rows`,
    each factor that varies, other than `column`, has a column of levels."""
    chosen = [figure for figure in figures if figure.main and figure.key.pattern != CONTROL]
    if not chosen:
        raise LongshoreError("there is no figure for a table; 'longshore show' lists what is stored")
    kinds = grouped(chosen, lambda f: (f.key.pattern, f.key.metric, f.simulated))
    known = {name for figure in chosen for name in _factors(figure)}
    for name in (*rows, *([column] if column else [])):
        require_known(name, known, "factor")
    return "\n".join(_table(members, launches, rows, column, form) for members in kinds.values())


def _factors(figure: Figure) -> dict[str, Any]:
    return {"study": figure.key.study, "tag": figure.tag, **figure.key.shown_factors}


def _table(
    figures: Sequence[Figure], launches: Sequence[Launch], rows: Sequence[str], column: str | None, form: str
) -> str:
    shared, varying = terminal.varying([_factors(figure) for figure in figures])
    down = [name for name in rows or varying if name != column]
    asked = [*down, *([column] if column else [])]
    levels = {name: _order(figures, name, launches) for name in asked}
    scale = _MILLION if max(figure.value for figure in figures) >= _MILLION else 1.0
    cells = grouped(figures, lambda f: tuple(terminal.levels(_factors(f), asked)))
    for members in cells.values():
        if merged := [name for name in terminal.varying([_factors(f) for f in members])[1] if name not in asked]:
            pattern = members[0].key.pattern
            raise UsageError(f"{pattern}: {merged[0]} varies, too: add --row {merged[0]}, or fix it by --where")
    across = levels[column] if column else [""]
    lines = list(dict.fromkeys(key[: len(down)] for key in cells))
    lines.sort(key=lambda line: [levels[name].index(level) for name, level in zip(down, line, strict=True)])
    body = [
        [*line, *(_cell(cells.get((*line, level) if column else line, []), scale) for level in across)]
        for line in lines
    ]
    first = figures[0]
    unit = unit_of_whom(first.unit, first.per)
    metric = first.key.metric.replace("_", " ")
    simulated = f", simulated on {first.simulated}" if first.simulated else ""
    note = f"{first.key.pattern}{simulated}: {_STATISTIC}{terminal.shared_factors(shared)}"
    head = [*terminal.options(down), *([f"{column} {level}" for level in across] if column else [])]
    if form == "markdown":
        title = f"{metric} ({'10^6 ' if scale > 1 else ''}{unit})"
        names = [*head, *([] if column else [title])]
        text = export_tables.table([dict(zip(names, line, strict=True)) for line in body], form).decode()
        return f"{title}; {note}\n\n{text}"
    return _latex(f"{metric} ({'$10^6$ ' if scale > 1 else ''}{latex_text(unit)})", note, head, len(down), body)


def _latex(title: str, note: str, head: Sequence[str], down: int, body: Sequence[Sequence[str]]) -> str:
    """The title stands above the columns with figures."""
    wide = len(body[0]) - down
    names = [latex_text(name) for name in head]
    title = title.replace("_", r"\_")
    if len(head) == down:  # one column, which the title names
        heads = [" & ".join([*names, title]) + r" \\"]
    else:
        heads = [
            "& " * down + rf"\multicolumn{{{wide}}}{{c}}{{{title}}} \\",
            rf"\cmidrule(lr){{{down + 1}-{down + wide}}}",
            " & ".join(names) + r" \\",
        ]
    return export_tables.latex_tabular("l" * down + "r" * wide, heads, body, " ".join(note.split()))


def _order(figures: Sequence[Figure], name: str, launches: Sequence[Launch]) -> list[str]:
    found = [factors[name] for figure in figures if name in (factors := _factors(figure))]
    absent = [""] if len(found) < len(figures) else []
    return [*map(terminal.factor, in_order(found, name, launches)), *absent]


def _cell(figures: Sequence[Figure], scale: float) -> str:
    if not figures:
        return ""
    values = [figure.value / scale for figure in figures]
    middle = terminal.significant(median(values), 3)
    if len(values) == 1 or figures[0].simulated:
        return middle
    low, high = (terminal.significant(bound, 3) for bound in median_interval(values) or (min(values), max(values)))
    return f"{middle} [{low}, {high}]"
