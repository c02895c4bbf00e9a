"""The effect of a row: the difference between its two sides, with its error. Launches are compared
if the sides were measured in turns, else sessions (docs/explanation/statistics.md, section 2)."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.compare.contrast import moderated_errors
from longshore_study.compare.core_distance import launches_on_far_cores
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import by_session
from longshore_study.patterns import CONTROL
from longshore_study.stats import covariate, effect
from longshore_study.stats.effect import Effect, Sessions
from longshore_study.store.selection import Side


def with_effects(rows: Sequence[JudgedRow], in_turns: frozenset[str]) -> list[JudgedRow]:
    """The rows with effects and errors, not yet judged. `in_turns`: see `sessions_in_turns`."""
    return _with_errors([_with_effect(row, in_turns) for row in rows])


def _with_effect(row: JudgedRow, in_turns: frozenset[str]) -> JudgedRow:
    """Removes the noise that probe and distance of cores explain, if all launches have a probe."""
    sides = by_session(row.reference), by_session(row.new)
    warnings: list[str] = []
    found = effect_of_sessions(*sides, in_turns, warnings)
    plain = replace(row, effect=found, warnings=tuple(warnings))
    if found is None or row.key.pattern == CONTROL or any(figure.pulse is None for figure in row.figures):
        return plain
    shared = sides[0].keys() & sides[1].keys()
    reference, new = (
        by_session((f for f in side if f.session in shared), lambda figure: figure.pulse or 0.0)
        for side in (row.reference, row.new)
    )
    far = launches_on_far_cores(row.figures)
    groups = (_marked(reference, far), _marked(new, far)) if far else None
    adjusted = covariate.adjust(found, (reference, new), groups)
    return replace(plain, effect=adjusted[0], adjustment=adjusted[1]) if adjusted is not None else plain


def _with_errors(rows: Sequence[JudgedRow]) -> list[JudgedRow]:
    """Adds the errors. The variances of rows of one design are moderated together."""
    varying = {row.effect.design for row in rows if row.effect and row.effect.variance}
    effects = {k: row.effect for k, row in enumerate(rows) if row.effect and row.effect.design in varying}
    errors = moderated_errors({k: (found.design, found) for k, found in effects.items()})
    same = "figures do not vary at all between sessions: was one file stored twice?"
    return [
        replace(row, moderated=errors[k])
        if k in errors
        else replace(row, warnings=(*row.warnings, same))
        if row.effect and row.effect.df
        else row
        for k, row in enumerate(rows)
    ]


def sessions_in_turns(reference: Side, new: Side) -> frozenset[str]:
    """The sessions in which the two sides were measured in turns (see `overlapping`)."""
    return overlapping(
        *(
            [(one.session, start) for one in side.launches if isinstance(start := one.envelope.get("started"), str)]
            for side in (reference, new)
        )
    )


def overlapping(*sides: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The sessions in which two sides were measured in turns: the times of the two sides overlap by
    at least half of the shorter span. `sides` has the session and the start of each launch."""
    spans: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for side in sides:
        for session, launches in grouped(side, lambda launch: launch[0]).items():
            if len(launches) > 1:
                starts = [start for _, start in launches]
                spans[session].append((min(starts), max(starts)))
    return frozenset(s for s, pair in spans.items() if len(pair) == 2 and _overlap(pair[0], pair[1]))


def _overlap(first: tuple[str, str], second: tuple[str, str]) -> bool:
    try:
        a, b, c, d = (dt.datetime.fromisoformat(time).timestamp() for time in (*first, *second))
    except ValueError:
        return False
    shorter = min(b - a, d - c)
    return shorter > 0 and min(b, d) - max(a, c) >= 0.5 * shorter


def effect_of_sessions(
    reference: Sessions, new: Sessions, in_turns: frozenset[str], warnings: list[str]
) -> Effect | None:
    """The effect between two sides. None if a side is empty. Adds a warning for unused data."""
    if not reference or not new:
        return None
    shared = sorted(reference.keys() & new.keys())
    in_turns_here = [s for s in shared if s in in_turns and len(reference[s]) > 1 and len(new[s]) > 1]
    if in_turns_here and len(in_turns_here) == len(shared):
        if len(shared) < max(len(reference), len(new)):
            warnings.append("sessions of one side alone are not used")
        return effect.stratified({s: reference[s] for s in shared}, {s: new[s] for s in shared})
    means = [{s: fmean(v.values()) for s, v in side.items()} for side in (reference, new)]
    if len(shared) > 1 or (len(reference) == len(new) == 1 and shared):
        alone = sorted((reference.keys() | new.keys()) - set(shared))
        if alone:
            warnings.append(f"session {', '.join(alone)} has no partner on the other side and is not used")
        return effect.paired({s: means[0][s] for s in shared}, {s: means[1][s] for s in shared})
    found = effect.unpaired(means[0], means[1])
    if found.df and min(len(reference), len(new)) == 1:
        warnings.append("one side has one session: its variance is taken from the other side")
    return found


def _marked(side: Sessions, launches: Collection[str]) -> dict[str, dict[Any, float]]:
    """The launches of the side, by session, each with 1 if it is among `launches`, else with 0."""
    return {session: {name: float(name in launches) for name in members} for session, members in side.items()}
