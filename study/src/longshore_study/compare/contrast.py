"""Compares two variants of the same study: how many times better the second variant is, with an
interval. Variants are compared within a launch that measured both, else within sessions whose
launches ran in turns, else by sessions (docs/explanation/statistics.md). comparison.py compares two
tags."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

from longshore_study.base.groups import grouped
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.metrics.launch_metrics import Figure, by_launch, by_session, one_simulated_machine
from longshore_study.stats import effect, moderated
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import ModeratedError

V = TypeVar("V")
Sides = tuple[Mapping[str, float], Mapping[str, float]]
"""The compared values of both variants, by launch or session."""
WITHIN_LAUNCH, IN_TURNS, BY_SESSION = "launch", "in turns", "session"
_NO_VARIANCE = 1e-20  # the variance of logarithms of equal figures, from rounding errors
SINGLE = "one launch: the data do not show how much launches differ"
NO_NOISE = "simulated figures have no noise"


@dataclass(frozen=True, slots=True)
class Contrast:
    """Above 1 if the second variant is better, also for metrics where less is better."""

    ratio: float
    interval: tuple[float, float] | None
    """The 95 % interval of the ratio; None if the data do not show how much launches differ."""
    units: int
    """The number of launches, or sessions, that were compared."""
    design: str
    """WITHIN_LAUNCH, IN_TURNS or BY_SESSION."""
    why_no_interval: str | None = None


def contrasts(pairs: Sequence[tuple[Sequence[Figure], Sequence[Figure]]]) -> list[Contrast | None]:
    """Compares the figures of each pair (first, second). None for a pair with an empty side or
    without a common session.

    The variances of all pairs of one design are moderated together, so pass the pairs of one table
    in one call.
    """
    effects = [effect_of(first, second) for first, second in pairs]
    simulated = [
        one_simulated_machine((*first, *second), "a comparison of two variants") is not None for first, second in pairs
    ]
    # Figures without variance (imported twice, or rounded to the same value) prove no precision, so
    # they get no interval.
    varying = {
        index: found[:2]
        for index, found in enumerate(effects)
        if found is not None and (found[1].variance or 0.0) > _NO_VARIANCE and not simulated[index]
    }
    errors = moderated_errors(varying)
    return [
        None if found is None else _contrast(*found[:2], errors.get(index), simulated=simulated[index])
        for index, found in enumerate(effects)
    ]


def moderated_errors(effects: Mapping[int, tuple[str, Effect]]) -> dict[int, ModeratedError | None]:
    """The error of each effect, which comes with its design. One design shares its variances."""
    errors: dict[int, ModeratedError | None] = {}
    for members in grouped(effects.items(), lambda item: item[1][0]).values():
        found = moderated.moderate([one for _, (_, one) in members])
        errors |= {index: error for (index, _), error in zip(members, found, strict=True)}
    return errors


def _contrast(design: str, found: Effect, mod: ModeratedError | None, *, simulated: bool) -> Contrast:
    interval, why = None, None
    if simulated:
        why = NO_NOISE
    elif mod is not None:
        interval = metric_ratios(effect.interval(found.difference, mod.se, mod.df), "higher")
    elif found.variance is None:
        why = SINGLE if design != BY_SESSION else "one session: the data do not show how much sessions differ"
    else:
        why = "the figures do not vary at all between launches"
    return Contrast(metric_ratio(found.difference, "higher"), interval, min(found.units), design, why)


def effect_of(
    first: Sequence[Figure], second: Sequence[Figure], in_turns: Collection[str] | None = None
) -> tuple[str, Effect, Sides] | None:
    """The design of the comparison, the effect, and the compared values. None without a common
    launch or session. `in_turns` has the sessions whose launches may be compared; None: all."""
    launches = by_launch(first), by_launch(second)
    if sides := _common(*launches):
        return WITHIN_LAUNCH, effect.paired(*sides), sides
    sessions = _common(by_session(first), by_session(second))
    if sessions is None:
        return None
    means = _means(sessions[0]), _means(sessions[1])
    alternating = in_turns is None or sessions[0].keys() <= set(in_turns)
    if alternating and all(len(members) > 1 for side in sessions for members in side.values()):
        return IN_TURNS, effect.stratified(*sessions), means
    return BY_SESSION, effect.paired(*means), means


def _common(first: Mapping[str, V], second: Mapping[str, V]) -> tuple[dict[str, V], dict[str, V]] | None:
    """What both sides have. None if there is nothing."""
    shared = sorted(first.keys() & second.keys())
    return ({k: first[k] for k in shared}, {k: second[k] for k in shared}) if shared else None


def _means(side: Mapping[str, Mapping[Any, float]]) -> dict[str, float]:
    return {name: fmean(members.values()) for name, members in side.items()}
