"""How much better one variant is than another, both measured in the same study: a ratio with its
interval.

Where launches measured both, each launch is compared with itself. Else launches of one session are
compared within that session, since they ran in turns; else sessions. docs/explanation/statistics.md
says why, and judgement.py does the same for two tags.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect, moderated
from longshore_study.stats.effect import Effect

WITHIN_LAUNCH, IN_TURNS, BY_SESSION = "launch", "in turns", "session"
_NO_VARIANCE = 1e-20  # of logarithms: what rounding leaves of figures that are the same
SINGLE = "one launch: nothing says how much launches differ"


@dataclass(frozen=True, slots=True)
class Contrast:
    """`ratio` above 1: the second one is better, also where less is better."""

    ratio: float
    interval: tuple[float, float] | None
    """95 %, or None where nothing says how much launches differ."""
    units: int
    """Launches, or sessions, that were compared."""
    design: str
    why_no_interval: str | None = None


def contrasts(pairs: Sequence[tuple[Sequence[Figure], Sequence[Figure]]]) -> list[Contrast | None]:
    """Of each pair (former, latter), None where one of them is empty or nothing compares them. The
    variances of the pairs of one design are moderated together, as those of a table that is read as
    a whole."""
    found = [_design(former, latter) for former, latter in pairs]
    shrunk: dict[int, moderated.Moderated | None] = {}
    for design in (WITHIN_LAUNCH, IN_TURNS, BY_SESSION):
        places = [k for k, one in enumerate(found) if one is not None and one[0] == design]
        # Figures that do not vary at all (imported twice, or rounded alike) are no sign of
        # precision.
        varying = [k for k in places if (one := found[k]) is not None and (one[1].variance or 0.0) > _NO_VARIANCE]
        shrunk |= dict(zip(varying, moderated.moderate([_effect(found[k]) for k in varying]), strict=True))
    return [None if one is None else _contrast(*one, shrunk.get(k)) for k, one in enumerate(found)]


def _effect(found: tuple[str, Effect] | None) -> Effect:
    assert found is not None  # noqa: S101 - only the varying ones are asked for
    return found[1]


def _contrast(design: str, found: Effect, mod: moderated.Moderated | None) -> Contrast:
    interval, why = None, None
    if mod is not None:
        low, high = effect.interval(found.difference, mod.se, mod.df)
        interval = (_ratio(low), _ratio(high))
    elif found.variance is None:
        why = SINGLE if design != BY_SESSION else "one session: nothing says how much sessions differ"
    else:
        why = "the figures do not vary at all between launches"
    return Contrast(_ratio(found.difference), interval, min(found.units), design, why)


def _ratio(difference: float) -> float:
    return math.exp(max(-700.0, min(700.0, difference)))


def _design(former: Sequence[Figure], latter: Sequence[Figure]) -> tuple[str, Effect] | None:
    sides = [_by_launch(former), _by_launch(latter)]
    shared = sides[0].keys() & sides[1].keys()
    if shared:
        return WITHIN_LAUNCH, effect.paired({k: sides[0][k] for k in shared}, {k: sides[1][k] for k in shared})
    sessions = [_by_session(former), _by_session(latter)]
    common = sorted(sessions[0].keys() & sessions[1].keys())
    if not common:
        return None
    if all(len(side[name]) > 1 for side in sessions for name in common):
        return IN_TURNS, effect.stratified(*({name: side[name] for name in common} for side in sessions))
    means = [{name: _mean(side[name]) for name in common} for side in sessions]
    return BY_SESSION, effect.paired(*means)


def _by_launch(figures: Sequence[Figure]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for figure in figures:
        found.setdefault(figure.launch, []).append(figure.goodness)
    return {launch: math.fsum(values) / len(values) for launch, values in found.items()}


def _by_session(figures: Sequence[Figure]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for figure in figures:
        found.setdefault(figure.session, {})[figure.launch] = figure.goodness
    return found


def _mean(values: Mapping[str, float]) -> float:
    return math.fsum(values.values()) / len(values)
