"""How much better one variant is than another that was measured in the same study: a ratio with its
interval.

A launch that measured both variants is compared with itself. Otherwise launches of one session are
compared within it, because they ran in turns; otherwise sessions are compared.
docs/explanation/statistics.md gives the reasons. comparison.py does the same for two tags.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect, moderated
from longshore_study.stats.effect import Effect

WITHIN_LAUNCH, IN_TURNS, BY_SESSION = "launch", "in turns", "session"
_NO_VARIANCE = 1e-20  # of logarithms: the rounding errors of equal figures
SINGLE = "one launch: the data do not show how much launches differ"


@dataclass(frozen=True, slots=True)
class Contrast:
    """`ratio` above 1: the second variant is better, for metrics where less is better too."""

    ratio: float
    interval: tuple[float, float] | None
    """95 %; None where the data do not tell how much launches differ."""
    units: int
    """The number of launches, or sessions, that were compared."""
    design: str
    """WITHIN_LAUNCH, IN_TURNS or BY_SESSION."""
    why_no_interval: str | None = None


def contrasts(pairs: Sequence[tuple[Sequence[Figure], Sequence[Figure]]]) -> list[Contrast | None]:
    """Compares the figures of each pair (first, second); None where one is empty or the two share
    no session.

    The variances of all pairs of one design are moderated together, so pass the pairs of one table
    in one call.
    """
    found = [_design(first, second) for first, second in pairs]
    shrunk: dict[int, moderated.Moderated | None] = {}
    for design in (WITHIN_LAUNCH, IN_TURNS, BY_SESSION):
        # Figures without any variance (imported twice, or rounded to the same value) do not prove
        # precision.
        varying = {
            k: one[1]
            for k, one in enumerate(found)
            if one is not None and one[0] == design and (one[1].variance or 0.0) > _NO_VARIANCE
        }
        shrunk |= dict(zip(varying, moderated.moderate(list(varying.values())), strict=True))
    return [None if one is None else _contrast(*one, shrunk.get(k)) for k, one in enumerate(found)]


def _contrast(design: str, found: Effect, mod: moderated.Moderated | None) -> Contrast:
    interval, why = None, None
    if mod is not None:
        low, high = effect.interval(found.difference, mod.se, mod.df)
        interval = (_ratio(low), _ratio(high))
    elif found.variance is None:
        why = SINGLE if design != BY_SESSION else "one session: the data do not show how much sessions differ"
    else:
        why = "the figures do not vary at all between launches"
    return Contrast(_ratio(found.difference), interval, min(found.units), design, why)


def _ratio(difference: float) -> float:
    return math.exp(max(-700.0, min(700.0, difference)))


def _design(first: Sequence[Figure], second: Sequence[Figure]) -> tuple[str, Effect] | None:
    sides = [_by_launch(first), _by_launch(second)]
    shared = sides[0].keys() & sides[1].keys()
    if shared:
        return WITHIN_LAUNCH, effect.paired({k: sides[0][k] for k in shared}, {k: sides[1][k] for k in shared})
    sessions = [_by_session(first), _by_session(second)]
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
