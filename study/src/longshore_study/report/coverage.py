"""Missing results: failed launches, skipped variants with their reasons, and variants that only one
side measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from longshore_study.base.texts import counted
from longshore_study.report.facts import Facts, MissingVariant, PlottedFigure, by_key, frozen
from longshore_study.report.labels import level_text, naming, pattern_title, value_text
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.tables import folded, scroll_table
from longshore_study.store.launch_store import Launch

ROWS_SHOWN = 30
NUMBERS = ("Launches", "Failed", "Variants")


@dataclass(frozen=True)
class Absence:
    """One line of the table, for one or several variants."""

    what: str
    pattern: str
    variant: str
    side: str
    reason: str
    variants: int = 1


def absences(facts: Facts) -> list[Absence]:
    """Everything missing, in the order failed, invalid, skipped, missing, without duplicates."""
    return list(dict.fromkeys((*_failed(facts), *_invalid(facts), *_skipped(facts), *_missing(facts))))


def coverage_section(facts: Facts) -> Element:
    lines = absences(facts)
    return element(
        "section",
        element("h2", "What is there, and what is missing"),
        _sessions(facts),
        folded(
            lines,
            ROWS_SHOWN,
            lambda more: counted(more, "more line"),
            lambda some: _table(some, several=len(facts.sides) > 1),
        )
        if lines
        else element("p", "Nothing failed, was skipped or is missing on one side."),
        id="missing",
    )


def _failed(facts: Facts) -> Iterable[Absence]:
    for side, launch in ((f.side, f.launch) for f in facts.failed):
        cell = ", ".join(level_text(k, v) for k, v in launch.cell.items() if k not in ("pattern", "program"))
        pattern = str(launch.cell.get("pattern") or launch.cell.get("program") or "")
        reason = (launch.problem or "").replace(str(launch.path), launch.path.name)
        yield Absence("failed", pattern, cell, side, reason)


def _invalid(facts: Facts) -> Iterable[Absence]:
    """One line for a variant that is above its bound in several launches, with the first reason."""
    first_reasons = {(f.side, f.key): f for f in reversed(facts.main_figures) if f.above}
    for f in reversed(first_reasons.values()):
        yield Absence("invalid?", f.pattern, _all_factors(f), f.side, f.above or "")


def _skipped(facts: Facts) -> Iterable[Absence]:
    """One line for all variants of a pattern with the same reason, so that repetitions do not hide
    other lines."""
    groups: dict[tuple[str, str, str], list[MissingVariant]] = {}
    for a in facts.absent:
        groups.setdefault((a.pattern, a.side, a.reason), []).append(a)
    for (pattern, side, reason), group in groups.items():
        variants = {frozen(a.factors): a.factors for a in group}
        what, _, why = reason.partition(": ")
        yield Absence(what, pattern, _levels(list(variants.values())), side, why, len(variants))


def _levels(variants: Sequence[dict[str, Any]]) -> str:
    """Every level that occurs, by factor: "waitall, persistent × halo 1, 2"."""
    names = naming(variants)
    if not names.varying:
        return ", ".join(level_text(k, v) for k, v in variants[0].items())
    parts = []
    for name in names.varying:
        levels = list(dict.fromkeys(value_text(v[name]) for v in variants if name in v))
        first = level_text(name, next(v[name] for v in variants if name in v))
        parts.append(", ".join([first, *levels[1:]]))
    return " × ".join(parts)


def _missing(facts: Facts) -> Iterable[Absence]:
    """The missing rows of the comparison; without a comparison, variants that some tags lack."""
    if facts.comparison:
        names = naming(row.factors for row in facts.comparison.rows)
        for row in facts.comparison.rows:
            if row.verdict == "missing":
                absent = facts.comparison.new.name if row.new_mean is None else facts.comparison.reference.name
                reason = row.warnings[0] if row.warnings else "measured on the other side only"
                yield Absence("missing", row.key.pattern, names.text(row.factors), absent, reason)
        return
    for group in by_key(facts.main_figures).values():
        present = {f.side for f in group}
        for side in facts.sides:
            if side not in present:
                reason = "measured only in " + ", ".join(sorted(present))
                yield Absence("missing", group[0].pattern, _all_factors(group[0]), side, reason)


def _all_factors(f: PlottedFigure) -> str:
    return ", ".join(level_text(k, v) for k, v in f.factors.items())


def _sessions(facts: Facts) -> Element:
    """The stored launches by tag and session."""
    failed = {f.launch.path for f in facts.failed}
    groups: dict[tuple[str, str, str], list[Launch]] = {}
    for launch in facts.launches:
        groups.setdefault((launch.tag, launch.session, launch.study), []).append(launch)
    rows = []
    for (tag, session, study), launches in groups.items():
        variants = {f.key for f in facts.main_figures if (f.tag, f.session, f.study) == (tag, session, study)}
        started = sorted(str(x.envelope["started"]) for x in launches if x.envelope.get("started"))
        broken = sum(1 for x in launches if x.path in failed)
        rows.append((tag, session, study, _utc(started[0]) if started else "–", len(launches), broken, len(variants)))
    heads = ("Tag", "Session", "Study", "Started", *NUMBERS[:3])
    body = [
        element("tr", [element("td", str(v), class_="number" if isinstance(v, int) else None) for v in row])
        for row in rows
    ]
    return scroll_table(heads, body, "sessions", numbers=NUMBERS)


def _utc(text: str) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return text


def _table(lines: Sequence[Absence], *, several: bool) -> Child:
    heads = ("What", "Pattern", "Variant", *(("Side",) if several else ()), "Variants", "Why")
    rows = [
        element(
            "tr",
            element("td", element("b", a.what)),
            element("td", pattern_title(a.pattern)),
            element("td", a.variant),
            element("td", a.side) if several else None,
            element("td", str(a.variants), class_="number"),
            element("td", a.reason),
        )
        for a in lines
    ]
    return scroll_table(heads, rows, "what is missing", numbers=NUMBERS)
