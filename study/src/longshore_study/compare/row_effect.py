"""The effect of a row: the difference between its two sides, in the units in which they can be
compared.

The unit of replication is the session where the two sides were measured at different times, and
the launch where they were measured in turns. docs/explanation/statistics.md explains the choice.
"""

from __future__ import annotations

import datetime as dt
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from longshore_study.compare.pairing import PairedRow
from longshore_study.metrics.launch_metrics import CONTROL, Figure
from longshore_study.stats import covariate, effect, moderated
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import Moderated
from longshore_study.store.selection import Side

Sessions = Mapping[str, Mapping[Hashable, float]]
"""Logarithms of goodness by session and launch."""


@dataclass(frozen=True)
class RowEffect:
    effect: Effect | None
    """None where one side has no figures."""
    adjustment: Adjustment | None = None
    """The part of the noise that the noise probe explains, taken out of the effect; None: nothing
    was taken out."""
    moderated: Moderated | None = None
    """The error of the effect, from the variances of all rows of the same design; None where the
    data do not tell how much sessions differ."""
    warnings: tuple[str, ...] = ()


def row_effects(rows: Sequence[PairedRow], in_turns: frozenset[str]) -> list[RowEffect]:
    """The effects of rows that are judged together. `in_turns`: of `sessions_in_turns`."""
    return _with_errors([_row_effect(row, in_turns) for row in rows])


def _row_effect(row: PairedRow, in_turns: frozenset[str]) -> RowEffect:
    """Takes the part of the noise probe out where launches are the units and all have a probe."""
    sides = by_session(row.reference), by_session(row.new)
    warnings: list[str] = []
    found = effect_of_sessions(*sides, in_turns, warnings)
    plain = RowEffect(found, warnings=tuple(warnings))
    if found is None or row.key.pattern == CONTROL or any(figure.pulse is None for figure in row.figures):
        return plain
    shared = sides[0].keys() & sides[1].keys()
    reference, new = (_probes(f for f in side if f.session in shared) for side in (row.reference, row.new))
    adjusted = covariate.adjust(found, (reference, new))
    return replace(plain, effect=adjusted[0], adjustment=adjusted[1]) if adjusted is not None else plain


def _with_errors(effects: list[RowEffect]) -> list[RowEffect]:
    """Variances of one design have the same meaning, so they are shrunk towards each other."""
    for design in (effect.PAIRED, effect.UNPAIRED, effect.STRATIFIED):
        members = [(k, one.effect) for k, one in enumerate(effects) if one.effect and one.effect.design == design]
        if not members:
            continue
        if any(found.variance for _, found in members if found.df):
            for (k, _), result in zip(members, moderated.moderate([found for _, found in members]), strict=True):
                effects[k] = replace(effects[k], moderated=result)
            continue
        same = "figures do not vary at all between sessions: was one file stored twice?"
        for k, found in members:
            if found.df:
                effects[k] = replace(effects[k], warnings=(*effects[k].warnings, same))
    return effects


def sessions_in_turns(reference: Side, new: Side) -> frozenset[str]:
    """The sessions in which both sides were measured in turns.

    Sides are in turns where their spans of time overlap by at least half of the shorter one.
    """
    starts: list[dict[str, list[str]]] = [defaultdict(list), defaultdict(list)]
    for side, times in zip((reference, new), starts, strict=True):
        for launch in side.launches:
            started = launch.envelope.get("started")
            if isinstance(started, str):
                times[launch.session].append(started)
    return overlapping(*starts)


def overlapping(*sides: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The sessions in which two sides were measured in turns, from the start times of their
    launches by session."""
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


def effect_of_sessions(
    reference: Sessions, new: Sessions, in_turns: frozenset[str], warnings: list[str]
) -> Effect | None:
    """The effect between two sides; None where one is empty. Adds a warning for data that it does
    not use."""
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
    """The logarithm of goodness of each launch."""
    return _by_session((figure, figure.goodness) for figure in figures)


def _probes(figures: Iterable[Figure]) -> dict[str, dict[Hashable, float]]:
    return _by_session((figure, figure.pulse or 0.0) for figure in figures)


def _by_session(numbers: Iterable[tuple[Figure, float]]) -> dict[str, dict[Hashable, float]]:
    """A launch has several figures where a factor that distinguishes them is ignored: their mean
    counts."""
    sessions: dict[str, dict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
    for figure, number in numbers:
        sessions[figure.session][figure.launch].append(number)
    return {s: {launch: math.fsum(v) / len(v) for launch, v in found.items()} for s, found in sessions.items()}
