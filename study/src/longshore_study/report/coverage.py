"""What is not there: failed launches, skipped variants with their reasons, and what only one side has measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longshore_study.report.facts import Facts, Figure, by_key, frozen, pattern_rank
from longshore_study.report.labels import level_text, naming, pattern_title
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.numbers import counted

ROWS_SHOWN = 30


@dataclass(frozen=True)
class Absence:
    """One line of the table; equal ones are counted together."""

    what: str
    pattern: str
    variant: str
    tag: str
    reason: str


def absences(facts: Facts) -> dict[Absence, int]:
    """Everything missing, in the order failed, wrong, skipped, missing, with how often."""
    counts: dict[Absence, int] = {}
    for absence in (*_failed(facts), *_wrong(facts), *_skipped(facts), *_missing(facts)):
        counts[absence] = counts.get(absence, 0) + 1
    return counts


def coverage_section(facts: Facts) -> Element:
    counts = absences(facts)
    lines = list(counts.items())
    return element(
        "section",
        element("h2", "What is missing"),
        _sessions(facts),
        _table(lines[:ROWS_SHOWN], len(facts.sides) > 1)
        if lines
        else element("p", "Nothing failed, was skipped or is missing on one side."),
        element(
            "details",
            element("summary", counted(len(lines) - ROWS_SHOWN, "more line")),
            _table(lines[ROWS_SHOWN:], len(facts.sides) > 1),
        )
        if len(lines) > ROWS_SHOWN
        else None,
        id="missing",
    )


def _failed(facts: Facts) -> Iterable[Absence]:
    for launch in facts.launches:
        if launch.problem:
            cell = ", ".join(level_text(k, v) for k, v in launch.cell.items() if k not in ("pattern", "program"))
            pattern = str(launch.cell.get("pattern") or launch.cell.get("program") or "")
            reason = launch.problem.replace(str(launch.path), launch.path.name)
            yield Absence("failed", pattern, cell, launch.tag, reason)


def _wrong(facts: Facts) -> Iterable[Absence]:
    for f in facts.main_figures:
        if f.verified is False:
            yield Absence("wrong", f.pattern, _all_factors(f), f.tag, "the result was not right")


def _skipped(facts: Facts) -> Iterable[Absence]:
    names = {p: naming(s.factors for s in facts.skipped if s.pattern == p) for p in {s.pattern for s in facts.skipped}}
    for s in facts.skipped:
        variant = ", ".join(level_text(k, v) for k, v in s.factors.items()) if len(names) == 0 else ""
        variant = names[s.pattern].text(s.factors) if names[s.pattern].varying else variant
        if not variant:
            variant = ", ".join(level_text(k, v) for k, v in s.factors.items())
        yield Absence("skipped", s.pattern, variant, s.launch.tag, s.reason)


def _missing(facts: Facts) -> Iterable[Absence]:
    """Where there is a comparison it has said so itself; otherwise what some tags have and others lack."""
    if facts.comparison:
        names = naming(row.factors for row in facts.comparison.rows)
        for row in facts.comparison.rows:
            if row.verdict == "missing":
                absent = facts.comparison.new if row.new is None else facts.comparison.reference
                reason = row.warnings[0] if row.warnings else "measured on the other side only"
                yield Absence("missing", row.pattern, names.text(row.factors), absent, reason)
        return
    for group in by_key(facts.main_figures).values():
        present = {f.tag for f in group}
        for tag in facts.sides:
            if tag not in present:
                reason = "measured only in " + ", ".join(sorted(present))
                yield Absence("missing", group[0].pattern, _all_factors(group[0]), tag, reason)


def _all_factors(f: Figure) -> str:
    return ", ".join(level_text(k, v) for k, v in f.factors.items())


def _sessions(facts: Facts) -> Element:
    """What was stored, per tag and session."""
    keys = sorted({(launch.tag, launch.session, launch.study) for launch in facts.launches})
    order = {tag: i for i, tag in enumerate(facts.sides)}
    rows = []
    for tag, session, study in sorted(keys, key=lambda k: (order.get(k[0], len(order)), *k)):
        launches = [x for x in facts.launches if (x.tag, x.session, x.study) == (tag, session, study)]
        variants = {(f.pattern, frozen(f.factors)) for f in facts.main_figures if (f.tag, f.session) == (tag, session)}
        failed = sum(1 for x in launches if x.problem)
        started = sorted(str(x.envelope["started"]) for x in launches if x.envelope.get("started"))
        rows.append((tag, session, study, started[0] if started else "–", len(launches), failed, len(variants)))
    heads = ("Tag", "Session", "Study", "Started", "Launches", "Failed", "Variants")
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", [element("th", h, scope="col") for h in heads])),
            element(
                "tbody",
                [
                    element("tr", [element("td", str(v), class_="number" if isinstance(v, int) else None) for v in row])
                    for row in rows
                ],
            ),
            class_="plain",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label="sessions",
    )


def _table(lines: Sequence[tuple[Absence, int]], several: bool) -> Child:
    ordered = sorted(
        lines,
        key=lambda line: (["failed", "wrong", "skipped", "missing"].index(line[0].what), pattern_rank(line[0].pattern)),
    )
    heads = ("What", "Pattern", "Variant", *(("Tag",) if several else ()), "Times", "Why")
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", [element("th", h, scope="col") for h in heads])),
            element(
                "tbody",
                [
                    element(
                        "tr",
                        element("td", element("b", a.what)),
                        element("td", pattern_title(a.pattern)),
                        element("td", a.variant),
                        element("td", a.tag) if several else None,
                        element("td", str(times), class_="number"),
                        element("td", a.reason),
                    )
                    for a, times in ordered
                ],
            ),
            class_="plain",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label="what is missing",
    )
