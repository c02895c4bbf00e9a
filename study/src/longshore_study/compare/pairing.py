"""Which figures of two sides belong together, and in which units they can be compared.

Rows are matched by study, pattern, variant, metric and cell; what one side lacks is a row too. The
unit of replication is the session where the sides differ in time, else the launch (design_of).
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from longshore_study.base.errors import UsageError, suggestion
from longshore_study.base.expression import Expression
from longshore_study.base.json_values import canonical
from longshore_study.compare.estimate import Estimate
from longshore_study.metrics.launch_metrics import CONTROL, Figure, Key, Measured
from longshore_study.stats import covariate, effect, moderated, verdict
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side


@dataclass(slots=True)
class Row:
    """One thing that was measured, on both sides as far as it was."""

    key: Key
    reference: list[Figure] = field(default_factory=list)
    new: list[Figure] = field(default_factory=list)
    absent: list[str | None] = field(default_factory=lambda: [None, None])
    """Why the reference and the new side have no figure, or not from all launches: skipped or
    failed, and how."""
    effect: Effect | None = None
    adjustment: Adjustment | None = None
    """What the pulse of the machine took out of the effect; None: nothing."""
    moderated: moderated.Moderated | None = None
    estimate: Estimate | None = None
    """The ratio of the row and its interval: what every table, file and page shows."""
    judgement: verdict.Judgement | None = None
    verdict: str = verdict.UNTESTABLE
    warnings: list[str] = field(default_factory=list)

    @property
    def used(self) -> tuple[list[Figure], list[Figure]]:
        """The figures of both sides that the effect was computed from: sessions without a partner
        are not in it."""
        if self.effect is None or self.effect.design == effect.UNPAIRED:
            return self.reference, self.new
        shared = {f.session for f in self.reference} & {f.session for f in self.new}
        return [f for f in self.reference if f.session in shared], [f for f in self.new if f.session in shared]


def pair(sides: Sequence[Measured], where: Expression | None = None, ignore: Collection[str] = ()) -> list[Row]:
    """All that either side measured, failed to measure or skipped; what both skipped is agreed on,
    and no row."""
    _require_factors(ignore, sides)
    rows: dict[Key, Row] = {}
    for side, measured in enumerate(sides):
        for figure in measured.figures:
            key = _without(figure.key, ignore)
            row = rows.setdefault(key, Row(key))
            (row.new if side else row.reference).append(figure)
        for absent, reason in measured.absent.items():
            key = _without(absent, ignore)
            rows.setdefault(key, Row(key)).absent[side] = reason
    if where is not None:
        chosen = set(where.select([key for key in rows if key.pattern != CONTROL], known_factors))
        rows = {key: row for key, row in rows.items() if key.pattern == CONTROL or key in chosen}
    failed = [
        {canonical(_remaining(launch.cell, ignore)): launch.problem for launch in measured.failed} for measured in sides
    ]
    for row in rows.values():
        for side, cells in enumerate(failed):
            problem = cells.get(row.key.cell_text)
            row.absent[side] = row.absent[side] or (f"failed: {problem}" if problem else None)
    return [row for row in rows.values() if row.reference or row.new or not _skipped(row)]


def _require_factors(ignore: Collection[str], sides: Sequence[Measured]) -> None:
    if not ignore:
        return
    keys = {key for measured in sides for key in (*(figure.key for figure in measured.figures), *measured.absent)}
    known = {name for key in keys for name in known_factors(key) if name not in ("pattern", "metric")}
    for name in ignore if known else ():
        if name not in known:
            raise UsageError(f"unknown factor '{name}'{suggestion(name, known)} (known: {', '.join(sorted(known))})")


def failed_without_row(sides: Sequence[Measured], rows: Iterable[Row], ignore: Collection[str] = ()) -> list[Launch]:
    """Failed launches of cells that neither side measured: what they would have measured is not
    known."""
    told = {row.key.cell_text for row in rows}
    return [
        launch
        for measured in sides
        for launch in measured.failed
        if canonical(_remaining(launch.cell, ignore)) not in told
    ]


def _skipped(row: Row) -> bool:
    return all(reason is None or reason.startswith("skipped") for reason in row.absent)


def known_factors(key: Key) -> dict[str, Any]:
    """What a condition can speak of."""
    return {"study": key.study, "metric": key.metric, **key.factors}


def _without(key: Key, ignore: Collection[str]) -> Key:
    if not ignore:
        return key
    variant, cell = (canonical(_remaining(factors, ignore)) for factors in (key.variant, key.cell))
    return replace(key, study="" if "study" in ignore else key.study, variant_text=variant, cell_text=cell)


def _remaining(factors: dict[str, Any], ignore: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in factors.items() if name not in ignore}


def set_apart(rows: Iterable[Row]) -> dict[str, tuple[list[Any], list[Any]]]:
    """Where no row has both sides: the factors whose values on one side are none of those on the
    other."""
    values: dict[str, tuple[dict[str, Any], dict[str, Any]]] = defaultdict(lambda: ({}, {}))
    for row in rows:
        if row.reference and row.new:
            return {}
        if row.key.pattern != CONTROL and (row.reference or row.new):
            factors = {"study": row.key.study, **row.key.cell, **row.key.variant}
            for name, value in factors.items():
                values[name][1 if row.new else 0][str(value)] = value
    return {
        name: (list(one.values()), list(other.values()))
        for name, (one, other) in values.items()
        if not one.keys() & other.keys()
    }


def sessions_in_turns(reference: Side, new: Side) -> frozenset[str]:
    """Sessions in which both sides were measured in turns: their spans of time overlap by half of
    the shorter one."""
    starts: list[dict[str, list[str]]] = [defaultdict(list), defaultdict(list)]
    for side, times in zip((reference, new), starts, strict=True):
        for launch in side.launches:
            started = launch.envelope.get("started")
            if isinstance(started, str):
                times[launch.session].append(started)
    return overlapping(*starts)


def overlapping(*sides: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The sessions in which launches of both sides, by their starts, were in turns."""
    spans: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for side in sides:
        for session, times in side.items():
            if len(times) > 1:
                spans[session].append((min(times), max(times)))
    return frozenset(s for s, pair in spans.items() if len(pair) == 2 and _overlap(pair[0], pair[1]))


def _overlap(one: tuple[str, str], other: tuple[str, str]) -> bool:
    try:
        a, b, c, d = (dt.datetime.fromisoformat(time).timestamp() for time in (*one, *other))
    except ValueError:
        return False
    return min(b, d) - max(a, c) >= 0.5 * min(b - a, d - c) and min(b - a, d - c) > 0


def design_of(row: Row, in_turns: frozenset[str]) -> Effect | None:
    """The effect of a row, in the units in which its two sides can be compared; None where one side
    is empty.

    Where launches are the units and all of them have a pulse, its part in the noise is taken out
    (row.adjustment).
    """
    sides = by_session(row.reference), by_session(row.new)
    found = design(*sides, in_turns, row.warnings)
    figures = [*row.reference, *row.new]
    if found is None or row.key.pattern == CONTROL or any(figure.pulse is None for figure in figures):
        return found
    shared = sides[0].keys() & sides[1].keys()
    reference, new = (_pulses(f for f in side if f.session in shared) for side in (row.reference, row.new))
    adjusted = covariate.adjust(found, (reference, new))
    if adjusted is None:
        return found
    found, row.adjustment = adjusted
    return found


Sessions = Mapping[str, Mapping[Hashable, float]]
"""Logarithms of goodness by session and launch."""


def design(reference: Sessions, new: Sessions, in_turns: frozenset[str], warnings: list[str]) -> Effect | None:
    """As `design_of`, of numbers that are no row; what is not used is told in `warnings`."""
    if not reference or not new:
        return None
    shared = sorted(reference.keys() & new.keys())
    in_turns_here = [s for s in shared if s in in_turns and len(reference[s]) > 1 and len(new[s]) > 1]
    if in_turns_here and len(in_turns_here) == len(shared):
        if len(shared) < max(len(reference), len(new)):
            warnings.append("sessions of one side alone are not used")
        return effect.stratified({s: reference[s] for s in shared}, {s: new[s] for s in shared})
    means = [{s: math.fsum(v.values()) / len(v) for s, v in side.items()} for side in (reference, new)]
    if len(shared) > 1 or (len(reference) == len(new) == 1 and shared):
        alone = sorted((reference.keys() | new.keys()) - set(shared))
        if alone:
            warnings.append(f"session {', '.join(alone)} has no partner on the other side and is not used")
        return effect.paired({s: means[0][s] for s in shared}, {s: means[1][s] for s in shared})
    found = effect.unpaired(means[0], means[1])
    if found.df and min(len(reference), len(new)) == 1:
        warnings.append("one side has one session: its variance is taken from the other side")
    return found


def by_session(figures: Iterable[Figure]) -> dict[str, dict[Hashable, float]]:
    return _by_session((figure, figure.goodness) for figure in figures)


def _pulses(figures: Iterable[Figure]) -> dict[str, dict[Hashable, float]]:
    return _by_session((figure, figure.pulse or 0.0) for figure in figures)


def _by_session(numbers: Iterable[tuple[Figure, float]]) -> dict[str, dict[Hashable, float]]:
    """A launch has several figures where a factor that tells them apart is ignored: their mean is
    the launch's."""
    sessions: dict[str, dict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
    for figure, number in numbers:
        sessions[figure.session][figure.launch].append(number)
    return {s: {launch: math.fsum(v) / len(v) for launch, v in found.items()} for s, found in sessions.items()}
