"""The section of missing results: failed, skipped, and measured on one side only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.report.facts import Factors, Facts, by_key, frozen
from longshore_study.report.labels import level_text, levels_text, naming, pattern_title, value_text
from longshore_study.report.markup import Child, Element, element, section
from longshore_study.report.tables import folded, scroll_table
from longshore_study.store.selection import heading

NUMBERS = ("Launches", "Failed", "Variants")


@dataclass(frozen=True)
class Absence:
    """One line of the table, for one or several variants."""

    kind: str  # "failed", "invalid?", "skipped" or "missing"
    pattern: str
    variant: str
    side: str
    reason: str
    variants: int = 1


def absences(facts: Facts) -> list[Absence]:
    """Everything missing, in the order failed, invalid, skipped, missing, without duplicates."""
    found = [*_failed(facts), *_invalid(facts), *_skipped(facts), *_missing(facts)]
    for machine, of_machine in facts.simulated.items():
        # The comparison has the rows that a side lacks, also the simulated ones.
        missing = () if facts.comparison else _missing(of_machine)
        found += [
            replace(line, variant=f"{heading(machine)}: {line.variant}")
            for line in (*_failed(of_machine), *_skipped(of_machine), *missing)
        ]
    return list(dict.fromkeys(found))


def coverage_section(facts: Facts) -> Element:
    lines = absences(facts)
    listed: Child = element("p", "Nothing failed, was skipped or is missing on one side.")
    if lines:
        listed = folded(lines, "more line", lambda some: _table(some, with_side=len(facts.sides) > 1), shown=30)
    return section("missing", "What is there, and what is missing", _sessions(facts), listed)


def _failed(facts: Facts) -> Iterable[Absence]:
    for side, launch in facts.failed:
        cell = levels_text({k: v for k, v in launch.cell.items() if k not in ("pattern", "program")})
        pattern = str(launch.cell.get("pattern") or launch.cell.get("program") or "")
        reason = (launch.problem or "").replace(str(launch.path), launch.path.name)
        yield Absence("failed", pattern, cell, side, reason)


def _invalid(facts: Facts) -> Iterable[Absence]:
    """One line for each variant that was above its bound, with the reason of its first launch."""
    first_figures = {(f.side, f.identity): f for f in reversed(facts.main_figures) if f.why_implausible}
    for f in reversed(first_figures.values()):
        yield Absence("invalid?", f.pattern, levels_text(f.factors), f.side, f.why_implausible or "")


def _skipped(facts: Facts) -> Iterable[Absence]:
    """One line for all variants of a pattern that were skipped for the same reason."""
    groups: dict[tuple[str, str, str], dict[Factors, dict[str, Any]]] = {}
    for side, key, reason in facts.absent:
        groups.setdefault((key.pattern, side, reason), {})[frozen(key.shown_factors)] = key.shown_factors
    for (pattern, side, reason), variants in groups.items():
        kind, _, why = reason.partition(": ")
        yield Absence(kind, pattern, _levels(list(variants.values())), side, why, len(variants))


def _levels(variants: Sequence[dict[str, Any]]) -> str:
    """The levels that occur, grouped by factor: "waitall, persistent × halo 1, 2"."""
    names = naming(variants)
    if not names.varying:
        return levels_text(variants[0])
    parts = []
    for name in names.varying:
        levels = list(dict.fromkeys(value_text(v[name]) for v in variants if name in v))
        first = level_text(name, next(v[name] for v in variants if name in v))
        parts.append(", ".join([first, *levels[1:]]))
    return " × ".join(parts)


def _missing(facts: Facts) -> Iterable[Absence]:
    """The missing rows of the comparison; without a comparison, variants that some sides lack."""
    if facts.comparison:
        rows = [*facts.comparison.rows, *facts.simulated_rows]
        names = naming(row.factors for row in rows)
        for row in rows:
            if row.verdict == "missing":
                lacking = facts.comparison.new if row.new_mean is None else facts.comparison.reference
                reason = row.warnings[0] if row.warnings else "measured on the other side only"
                yield Absence("missing", row.key.pattern, names.text(row.factors), lacking.name, reason)
        return
    for group in by_key(facts.main_figures).values():
        present = {f.side for f in group}
        for side in facts.sides:
            if side not in present:
                reason = "measured only in " + ", ".join(sorted(present))
                yield Absence("missing", group[0].pattern, levels_text(group[0].factors), side, reason)


def _sessions(facts: Facts) -> Element:
    kinds = (facts, *facts.simulated.values())
    failed = {launch.path for kind in kinds for _, launch in kind.failed}
    main_figures = [figure for kind in kinds for figure in kind.main_figures]
    groups = grouped(facts.all_launches, lambda launch: (launch.tag, launch.session, launch.study))
    rows = []
    for (tag, session, study), launches in groups.items():
        variants = {f.identity for f in main_figures if (f.tag, f.session, f.study) == (tag, session, study)}
        started = sorted(str(x.envelope["started"]) for x in launches if x.envelope.get("started"))
        failures = sum(1 for x in launches if x.path in failed)
        numbers = map(str, (len(launches), failures, len(variants)))
        rows.append([tag, session, study, _utc(started[0]) if started else "–", *numbers])
    return scroll_table(("Tag", "Session", "Study", "Started", *NUMBERS), rows, "sessions", numbers=NUMBERS)


def _utc(text: str) -> str:
    try:
        return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except ValueError:
        return text


def _table(lines: Sequence[Absence], *, with_side: bool) -> Child:
    heads = ("What", "Pattern", "Variant", *(("Side",) if with_side else ()), "Variants", "Why")
    rows: list[list[Child]] = []
    for a in lines:
        side = [a.side] if with_side else []
        rows.append([element("b", a.kind), pattern_title(a.pattern), a.variant, *side, str(a.variants), a.reason])
    return scroll_table(heads, rows, "what is missing", numbers=NUMBERS)
