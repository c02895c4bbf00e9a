"""Which strategy wins on this machine, and how far it is from its bound: a table per pattern, for `show --winners`.

Variants are ranked among those that do the same work (same factors of the problem, same number of ranks); strategies
and transports compete. The bound is the memory copy that the control cells measure, launched in the same way in the
same session, so that a noisy hour lowers both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from longshore_study import terminal
from longshore_study.errors import LongshoreError
from longshore_study.factors import FACTORS
from longshore_study.figures import CONTROL, Figure, Measured, canonical, measure, pattern_rank
from longshore_study.memory_bound import DEFINITIONS, moved_gigabytes_per_second
from longshore_study.store import Store

WORK = {
    "stream": ("kernel", "elements", "type"),
    "gather": ("operation", "requests", "table"),
    "halo": ("contiguous", "domain", "halo", "fields", "type", "periodic"),
    "sort": ("keys", "scaling", "max_key", "key_pattern"),
}
"""Per pattern, the factors that say what is to be done; all others say how."""

_WORK_BETWEEN = ("ranks", "nodes", "ranks_per_node", "environment")
_SAME_LAUNCHING = ("transport", "ranks", "nodes", "ranks_per_node", "environment")


@dataclass
class Entry:
    """One variant doing one piece of work, over its launches."""

    pattern: str
    work: dict[str, Any]
    how: dict[str, Any]
    unit: str
    better: str
    values: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    """Of memory copy, per launch, where it is known."""
    rank: int = 0
    near: bool = False
    """Its launches overlap with the winner's: the data do not tell the two apart."""

    @property
    def value(self) -> float:
        return median(self.values)

    @property
    def share(self) -> float | None:
        return median(self.shares) if self.shares else None

    @property
    def spread(self) -> float:
        """Largest minus smallest of the launches, relative to their median."""
        return (max(self.values) - min(self.values)) / self.value

    def as_json(self) -> dict[str, Any]:
        return {
            "pattern": self.pattern,
            "work": self.work,
            "how": self.how,
            "value": self.value,
            "unit": self.unit,
            "launches": len(self.values),
            "spread": round(self.spread, 4),
            "of_memory_copy": self.share,
            "rank": self.rank,
            "winner": self.rank == 1,
            "not_told_from_winner": self.near,
        }


def entries(figures: Iterable[Figure]) -> list[Entry]:
    """All variants, ranked within their work: by pattern, then work, then best first."""
    kept = list(figures)
    copies = _memory_copies(kept)
    found: dict[str, Entry] = {}
    for figure in kept:
        pattern = figure.key.pattern
        if pattern == CONTROL or pattern not in WORK:
            continue
        cell = {name: value for name, value in figure.key.cell.items() if name != "program"}
        factors = {**cell, **figure.key.variant}
        work_names = (*WORK[pattern], *_WORK_BETWEEN)
        work = {name: value for name, value in factors.items() if name in work_names and value not in ({}, None)}
        how = {name: value for name, value in factors.items() if name not in work_names}
        name = canonical({"pattern": pattern, "work": work, "how": how})
        entry = found.setdefault(name, Entry(pattern, work, how, figure.unit, figure.better))
        entry.values.append(figure.value)
        copy = copies.get(_launching(figure, factors))
        moved = moved_gigabytes_per_second(pattern, figure.value, factors)
        if copy and moved is not None:
            entry.shares.append(moved / copy)
    return _ranked(found.values())


def _memory_copies(figures: Iterable[Figure]) -> dict[str, float]:
    """GB/s of the control `copy`, per way of launching and session: the median over its launches."""
    values: dict[str, list[float]] = {}
    for figure in figures:
        if figure.key.pattern == CONTROL and figure.key.variant.get("kernel") == "copy":
            values.setdefault(_launching(figure, figure.key.cell), []).append(figure.value)
    return {place: median(found) for place, found in values.items()}


def _launching(figure: Figure, factors: Mapping[str, Any]) -> str:
    return canonical({**{name: factors.get(name) for name in _SAME_LAUNCHING}, "when": [figure.tag, figure.session]})


def _ranked(found: Iterable[Entry]) -> list[Entry]:
    groups: dict[str, list[Entry]] = {}
    for entry in found:
        groups.setdefault(canonical({"pattern": entry.pattern, "work": entry.work}), []).append(entry)
    ranked = []
    for group in sorted(groups.values(), key=lambda group: (pattern_rank(group[0].pattern), _size(group[0]))):
        lower = group[0].better == "lower"
        group.sort(key=lambda entry: entry.value, reverse=not lower)
        best = group[0]
        for place, entry in enumerate(group, 1):
            entry.rank = place
            reach = min(entry.values) <= max(best.values) if lower else max(entry.values) >= min(best.values)
            entry.near = place > 1 and reach
        ranked += group
    return ranked


def newest_session(store: Store, study: str, tag: str | None = None) -> tuple[str, str] | None:
    """(tag, session) of the launches stored last."""
    sessions = [
        (a_tag, a_session) for name, a_tag, a_session in store.names() if name == study and tag in (None, a_tag)
    ]
    return max(sessions, key=lambda names: store.session_path(study, *names).stat().st_mtime, default=None)


def _size(entry: Entry) -> list[tuple[float, str]]:
    """Pieces of work in the order of the command line's factors, numbers by size."""
    levels = [entry.work.get(name) for name in (*WORK[entry.pattern], *_WORK_BETWEEN)]
    return [(float(level), "") if isinstance(level, int | float) else (0.0, str(level or "")) for level in levels]


def render(store: Store, study: str, tag: str | None = None, session: str | None = None) -> None:
    """Prints a table per pattern, of the newest session unless one is named; raises LongshoreError when it has no
    figures."""
    if session is None and (newest := newest_session(store, study, tag)) is not None:
        tag, session = newest
    measured = measure(store.launches(study, tag, session))
    ranked = entries(measured.figures)
    if not ranked:
        what = f"; {len(measured.failed)} launches failed ('longshore status' lists them)" if measured.failed else ""
        raise LongshoreError(f"study '{study}' has no figures in {store.path} yet{what}; 'longshore run' measures")
    terminal.print_line(f"{study}, tag {tag}, session {session}: {terminal.count(measured.launches, 'launch')}\n")
    for pattern in dict.fromkeys(entry.pattern for entry in ranked):
        _print_pattern(pattern, [entry for entry in ranked if entry.pattern == pattern])
    _print_footer(measured, _memory_copies(measured.figures), ranked)


def _print_pattern(pattern: str, ranked: list[Entry]) -> None:
    how_shared, how_names = terminal.varying([entry.how for entry in ranked])
    work_shared, work_names = terminal.varying([entry.work for entry in ranked])
    work_names, how_names = _in_order(pattern, work_names), _in_order(pattern, how_names)
    scale, unit = _scale(ranked)
    columns = ["", *(_heading(name) for name in (*work_names, *how_names)), unit, "spread", "of copy"]
    rows: list[list[str]] = []
    styles: list[str | None] = []
    for entry in ranked:
        if entry.rank == 1 and rows and work_names:
            rows.append([""] * len(columns))
            styles.append(None)
        mark = "winner" if entry.rank == 1 else "~" if entry.near else ""
        share = "-" if entry.share is None else f"{entry.share:.0%}"
        factors = [_level(entry.work, name) for name in work_names] + [_level(entry.how, name) for name in how_names]
        spread = f"{entry.spread:.0%}" if len(entry.values) > 1 else "-"
        rows.append([mark, *factors, terminal.number(entry.value / scale), spread, share])
        styles.append("best" if entry.rank == 1 else None)
    shared = terminal.factors({_heading(name): value for name, value in {**work_shared, **how_shared}.items()})
    title = f"{pattern}: {shared}" if shared else pattern
    terminal.print_table(title, columns, rows, right=columns[-3:], styles=styles)
    terminal.print_line(f"of copy: {DEFINITIONS[pattern]} per second, relative to memory copy\n")


def _print_footer(measured: Measured, copies: Mapping[str, float], ranked: list[Entry]) -> None:
    if copies:
        low, high = min(copies.values()), max(copies.values())
        figures = terminal.number(low) + ("" if low == high else f" to {terminal.number(high)}")
        terminal.print_line(f"memory copy of this machine, measured with the study: {figures} GB/s read and written")
    else:
        terminal.print_line("memory copy was not measured in these launches, so nothing is set against it")
    if any(entry.near for entry in ranked):
        terminal.print_line("~ its launches overlap with the winner's: more launches would tell which is faster")
    for reason, amount in Counter(measured.absent.values()).most_common():
        terminal.print_line(f"no figure of {terminal.count(amount, 'variant')}: {reason}")
    failed = len(measured.failed)
    if failed:
        terminal.print_line(
            f"{terminal.count(failed, 'launch')} failed and are not shown ('longshore status' lists them)"
        )


def _in_order(pattern: str, names: list[str]) -> list[str]:
    """The order of the command line; what is set between launches comes last."""
    order = [*FACTORS[pattern], *names]
    return sorted(names, key=order.index)


def _scale(ranked: list[Entry]) -> tuple[float, str]:
    """Millions, where there are some."""
    unit = ranked[0].unit
    return (1e6, f"10^6 {unit}") if max(entry.value for entry in ranked) >= 1e6 else (1.0, unit)


def _heading(name: str) -> str:
    return name.replace("_", "-")


def _level(factors: Mapping[str, Any], name: str) -> str:
    return terminal.factor(factors[name]) if name in factors else ""
