"""Changes as a table of two factors: every cell has a sign and a number, which colour
underlines."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from longshore_study.base.json_values import number_in
from longshore_study.base.texts import change
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.report.forest import row_groups
from longshore_study.report.labels import NO_BREAK, SPEAKING, level_text, metric_title, naming, pattern_title
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.ratio_text import ratio_text
from longshore_study.report.verdict_style import badge, base_name, verdict_of

COLUMNS_MOST = 12
# Steps of |log ratio| beyond the margin: 15 %, 1.5 times, 3 times.
STEPS = (log(1.15), log(1.5), log(3))


def heat_map_section(comparison: Comparison) -> Element | None:
    tables = [t for rows in row_groups(comparison) if (t := _table(rows, comparison.margin)) is not None]
    if not tables:
        return None
    return element(
        "section",
        element("h2", "Where it changed"),
        element(
            "p",
            "The change of each figure by two factors. ▲: better, ▼: worse, by verdict; no sign where undecided.",
            class_="note",
        ),
        tables,
        id="changes",
    )


def _table(rows: Sequence[JudgedRow], margin: float) -> Element | None:
    """None where the rows do not span two factors, or the columns would not fit."""
    names = naming(row.factors for row in rows)
    if len(names.varying) < 2:
        return None
    down = next((n for n in names.varying if n in SPEAKING), names.varying[0])
    # The rows are sorted by verdict, but a map is read by its factors.
    ordered = sorted(rows, key=lambda row: [_rank(row.factors.get(name)) for name in names.varying])
    columns = list(dict.fromkeys(names.text(row.factors, without=[down]) for row in ordered))
    lines = list(dict.fromkeys(level_text(down, row.factors[down]) for row in ordered if down in row.factors))
    if not (2 <= len(columns) <= COLUMNS_MOST and len(lines) >= 2):
        return None
    cells = {
        (level_text(down, row.factors[down]), names.text(row.factors, without=[down])): row
        for row in rows
        if down in row.factors
    }
    return element(
        "div",
        element("h3", f"{pattern_title(rows[0].key.pattern)}: {metric_title(rows[0].key.metric)}"),
        element(
            "div",
            element(
                "table",
                element(
                    "thead", element("tr", element("td"), [element("th", _lines(c), scope="col") for c in columns])
                ),
                element(
                    "tbody",
                    [
                        element(
                            "tr",
                            element("th", name, scope="row"),
                            [_cell(cells.get((name, c)), margin) for c in columns],
                        )
                        for name in lines
                    ],
                ),
                class_="heat",
            ),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label=f"changes of {pattern_title(rows[0].key.pattern)}",
        ),
        class_="group",
    )


def _rank(value: object) -> tuple[float, str]:
    """Sorts numbers by size and everything else by name."""
    return (number_in(value) or 0.0, str(value))


def _lines(text: str) -> Child:
    """One factor per line, so that columns stay narrow."""
    return [[part.replace(" ", NO_BREAK), element("br")] for part in text.split(", ")]


def _cell(row: JudgedRow | None, margin: float) -> Element:
    if row is None:
        return element("td", "not run", class_="absent")
    if row.ratio is None or row.ratio <= 0:
        return element("td", badge(row.verdict))
    glyph: Child = None
    if base_name(row.verdict) in ("regressed", "improved"):
        glyph = [element("span", verdict_of(row.verdict).glyph, class_="glyph", aria_hidden="true"), " "]
    good = (row.ratio > 1) == (row.better != "lower")
    size = abs(log(row.ratio))
    step = sum(1 for limit in (log(1 + margin), *STEPS) if size >= limit)
    return element(
        "td",
        glyph,
        change(row.ratio),
        class_=f"heat-{'better' if good else 'worse'}-{step}" if step else None,
        title=f"{row.verdict}, {ratio_text(row)}",
    )
