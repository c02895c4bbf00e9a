"""The section of means: the mean, the smallest and the largest value over launches, as ISx prints
them, and the geometric mean with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from longshore_study.analyses.means import Mean, means_of, with_means
from longshore_study.base.texts import Quantity, counted, plain_number, quantity
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, metric_title, naming, pattern_title
from longshore_study.report.marks import grid, interval, legend, line, mark, strip, strip_axis
from longshore_study.report.markup import Child, Element, element, remark, section
from longshore_study.report.scales import Scale, Tick, log_around
from longshore_study.report.tables import folded, strip_row, strip_table

ROWS_SHOWN = 40


def means_section(facts: Facts) -> Element | None:
    """Only for patterns whose reference program prints means; None without such a pattern."""
    blocks = []
    for side, figures in facts.all_measured.items():
        groups: dict[tuple[str, str, str], list[Mean]] = {}
        for row in means_of(figure for figure in figures if with_means(figure.key.pattern)):
            groups.setdefault((row.pattern, row.metric, row.unit), []).append(row)
        where = f": {side}" if len(facts.stored_sides) > 1 else ""
        blocks += [
            _block(f"{pattern_title(pattern)}, {metric_title(metric)}{where}", rows)
            for (pattern, metric, _), rows in groups.items()
        ]
    if not blocks:
        return None
    return section("means", "Mean, smallest, largest", blocks)


def _block(title: str, rows: Sequence[Mean]) -> Element:
    names = naming(row.factors for row in rows)
    note = (
        "The thin line goes from the smallest to the largest launch, with a diamond at the mean: what ISx prints. The "
        "dot is the geometric mean, the thick line its 95 % interval"
        + (" from sessions." if rows[0].sessions > 1 else " from launches.")
    )
    note += names.constant_note
    return element(
        "div",
        element("h3", title),
        remark(note),
        legend([("diamond", "s2 open", "mean"), ("circle", "s1", "geometric mean")]),
        folded(rows, ROWS_SHOWN, lambda more: counted(more, "more variant"), lambda some: _table(some, names)),
        class_="pattern",
    )


def _table(rows: Sequence[Mean], names: Naming) -> Element:
    scale = log_around([value for row in rows for value in (row.smallest, row.largest)])
    shown_as = quantity(rows[0].unit, [scale.high])
    ticks = scale.ticks(shown_as.tick)
    axis: Child = [element("span", f"{shown_as.name}, log axis", class_="axis-name"), strip_axis(ticks)]
    heads: list[tuple[str, Child]] = [
        ("name", "Variant"),
        ("plot", axis),
        ("median number", f"Mean {shown_as.name}"),
        ("spread number", "Range"),
        ("spread number", "Geometric mean, 95 %"),
        ("launches number", "Launches"),
    ]
    return strip_table(heads, [_row(row, names, scale, ticks, shown_as) for row in rows])


def _row(row: Mean, names: Naming, scale: Scale, ticks: list[Tick], shown_as: Quantity) -> Element:
    spread = f"{shown_as.number(row.smallest)} to {shown_as.number(row.largest)}"
    middle = shown_as.number(row.geometric)
    if row.interval is not None:
        middle += f" ({shown_as.number(row.interval[0])} to {shown_as.number(row.interval[1])})"
    label = f"mean {shown_as.number(row.mean)} {shown_as.name}, {spread}"
    drawn = strip(
        grid(ticks),
        line(scale.clipped(row.smallest), 0.5, scale.clipped(row.largest), 0.5, "axis"),
        interval(scale, *row.interval, 0.5, "s1") if row.interval else None,
        mark("circle", scale.clipped(row.geometric), 0.5, "s1", f"geometric mean {plain_number(row.geometric)}"),
        mark("diamond", scale.clipped(row.mean), 0.5, "s2 open", label),
        label=label,
    )
    numbers = [("median", shown_as.number(row.mean)), ("spread", spread), ("spread", middle)]
    return strip_row(names.markup(row.factors), drawn, [*numbers, ("launches", str(len(row.values)))])
