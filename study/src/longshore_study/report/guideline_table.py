"""The section of guidelines, which hold on any machine without history: a call must not be slower
than the calls that could replace it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.base.texts import counted, figure, quantity
from longshore_study.compare.estimate import ratios
from longshore_study.compare.guideline_check import GuidelineRow
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, level_text, naming, pattern_title
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.tables import folded, scroll_table

ROWS_SHOWN = 40
# Ratios from here on are written as factors, smaller ones in percent.
TIMES = 1.5
LOOKS = {
    "broken": ("regressed", "✕"), "holds": ("same", "✓"), "inconclusive": ("inconclusive", "?"),
    "untestable": ("untestable", "–"),
}  # fmt: skip


def guidelines_section(facts: Facts) -> Element | None:
    if not facts.guidelines:
        return None
    tables = [_tag(tag, rows, titled=len(facts.guidelines) > 1) for tag, rows in facts.guidelines.items()]
    return element(
        "section",
        element("h2", "Guidelines"),
        element(
            "p",
            "Guidelines need no reference: the first variant must not be slower than the second, which "
            "does the same work with more general means. Measured: geometric means. A broken guideline is worth a "
            "question to the library’s authors.",
            class_="note",
        ),
        tables,
        id="guidelines",
    )


def _tag(tag: str, rows: Sequence[GuidelineRow], *, titled: bool) -> Child:
    broken = sum(1 for r in rows if r.holds is False)
    open_ = sum(1 for r in rows if r.holds is None)
    summary = f"{broken} of {counted(len(rows), 'guideline')} broken" + (f", {open_} not decided." if open_ else ".")
    # Broken guidelines first, the worst at the top; then undecided ones; then those that hold.
    ordered = sorted(rows, key=lambda r: ({False: 0, None: 1, True: 2}[r.holds], -r.times_slower))
    names = naming(_where(r) for r in rows)
    return [
        element("h3", tag) if titled else None,
        element("p", summary),
        element("p", f"All: {names.constant_text}.", class_="note") if names.constant else None,
        *folded(
            ordered,
            ROWS_SHOWN,
            lambda more: counted(more, "more guideline"),
            lambda some: _table(tag, some, names),
        ),
    ]


def _table(tag: str, rows: Sequence[GuidelineRow], names: Naming) -> Element:
    heads = ["Verdict", "Pattern", "This", "is not slower than", "Measured", "So it is"]
    if names.varying:
        heads.append("Where")
    return scroll_table(heads, [_row(row, names) for row in rows], f"guidelines of {tag}")


def _row(row: GuidelineRow, names: Naming) -> Element:
    style, glyph = LOOKS[row.verdict]
    where = names.parts(_where(row))
    notes = [row.guideline.why] if row.guideline.why and row.holds is False else []
    return element(
        "tr",
        element(
            "td",
            element(
                "span",
                element("span", glyph, class_="glyph", aria_hidden="true"),
                f" {row.verdict}",
                class_=f"badge v-{style}",
            ),
        ),
        element("td", pattern_title(row.pattern), class_="unbroken"),
        element("td", element("b", _factors(row.guideline.faster))),
        element(
            "td",
            _factors(row.guideline.than),
            [element("span", note, class_="warning") for note in (*notes, *row.warnings)],
        ),
        element("td", _measured(row)),
        element("td", _how_much(row)),
        element("td", ", ".join(where), class_="part") if names.varying else None,
    )


def _measured(row: GuidelineRow) -> str:
    shown_as = quantity(row.unit, row.values)
    return f"{' against '.join(shown_as.number(v) for v in row.values)} {shown_as.name}"


def _how_much(row: GuidelineRow) -> Child:
    size = _slower_text(row.times_slower)
    if row.interval is None:
        return size
    low, high = (_slower_text(bound) for bound in ratios(row.interval, "lower"))
    return [size, element("span", f"95 % interval {low} to {high}", class_="warning")]


def _slower_text(slower: float) -> str:
    if slower >= TIMES:
        return f"{figure(slower)} times slower"
    if slower <= 1 / TIMES:
        return f"{figure(1 / slower)} times faster"
    size = abs(slower - 1) * 100
    return f"{size:.1f} % {'slower' if slower > 1 else 'faster'}"


def _where(row: GuidelineRow) -> Mapping[str, Any]:
    return {k: v for k, v in row.context.items() if k not in ("program", "pattern")}


def _factors(factors: Mapping[str, Any]) -> str:
    return ", ".join(level_text(k, v) for k, v in factors.items()) or "–"
