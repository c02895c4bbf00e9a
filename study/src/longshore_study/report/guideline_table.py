"""What must hold on any machine, without history: a call must not be slower than the calls it could be replaced by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.report.facts import Facts
from longshore_study.report.labels import level_text, pattern_title
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.numbers import counted, figure

ROWS_SHOWN = 40


def guidelines_section(facts: Facts) -> Element | None:
    if not facts.guidelines:
        return None
    tables = [_tag(tag, rows, titled=len(facts.guidelines) > 1) for tag, rows in facts.guidelines.items()]
    return element(
        "section",
        element("h2", "Guidelines"),
        element(
            "p",
            "Self-consistency that needs no reference: the first variant must not be slower than the second, which "
            "does the same work with more general means. A broken one is worth a question to the library’s authors.",
            class_="note",
        ),
        tables,
        id="guidelines",
    )


def _tag(tag: str, rows: Sequence[Mapping[str, Any]], *, titled: bool) -> Child:
    # Broken first, and the worst of those at the top.
    ordered = sorted(rows, key=lambda r: (r.get("holds") is not False, r.get("ratio") or 0.0))
    broken = sum(1 for r in rows if r.get("holds") is False)
    summary = (
        f"{broken} of {counted(len(rows), 'guideline')} broken." if rows else "No guideline applies to these data."
    )
    return [
        element("h3", tag) if titled else None,
        element("p", summary),
        _table(tag, ordered[:ROWS_SHOWN]) if rows else None,
        element(
            "details",
            element("summary", counted(len(rows) - ROWS_SHOWN, "more guideline")),
            _table(tag, ordered[ROWS_SHOWN:]),
        )
        if len(rows) > ROWS_SHOWN
        else None,
    ]


def _table(tag: str, rows: Sequence[Mapping[str, Any]]) -> Element:
    heads = ("Holds", "Pattern", "Must be at least as fast", "as", "Speed, first / second", "Where")
    return element(
        "div",
        element(
            "table",
            element(
                "thead",
                element(
                    "tr",
                    [element("th", h, scope="col", class_="number" if h.startswith("Speed") else None) for h in heads],
                ),
            ),
            element("tbody", [_row(r) for r in rows]),
            class_="plain",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=f"guidelines of {tag}",
    )


def _row(row: Mapping[str, Any]) -> Element:
    holds = row.get("holds")
    if holds is None:
        state, style, glyph = "not testable", "untestable", "–"
    elif holds:
        state, style, glyph = "holds", "same", "✓"
    else:
        state, style, glyph = "broken", "regressed", "✕"
    ratio = row.get("ratio")
    told = figure(ratio)
    if isinstance(ratio, (int, float)) and 0 < ratio < 1:
        told += f" ({figure(1 / ratio)} times slower)"
    where = row.get("between") or row.get("variant") or row.get("cell") or {}
    return element(
        "tr",
        element(
            "td",
            element(
                "span",
                element("span", glyph, class_="glyph", aria_hidden="true"),
                f" {state}",
                class_=f"badge v-{style}",
            ),
        ),
        element("td", pattern_title(str(row.get("pattern", "")))),
        element("td", element("b", _factors(row["faster"]))),
        element("td", _factors(row["than"])),
        element("td", told, class_="number"),
        element("td", _factors(where), class_="part"),
    )


def _factors(factors: Mapping[str, Any]) -> str:
    return ", ".join(level_text(k, v) for k, v in factors.items()) or "–"
