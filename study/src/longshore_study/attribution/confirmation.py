"""Judges a confirming study (confirming_study.py): did the suspected levels cause the change?

Two questions. Did the suspected levels change more than the levels beside them, between two tags,
by more than the margin? Do variables of the environment cause the change and undo it, in either
state of the machine (variable_effect.py)?

For each launch that measured suspected and other variants, else for each session, the number is the
difference between their means. Effects on both, of the launch, the session or the machine, cancel.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.variable_effect import (
    CONFIRMED,
    OPEN,
    REFUTED,
    VariableEffect,
    combined_verdict,
    variable_effect,
    verdict_of,
)
from longshore_study.base.errors import LongshoreError
from longshore_study.compare.contrast import Contrast, contrasts
from longshore_study.compare.estimate import ratio, ratios
from longshore_study.compare.row_effect import effect_of_sessions, sessions_in_turns
from longshore_study.metrics.launch_metrics import CONTROL, Figure, measure
from longshore_study.stats import effect, verdict
from longshore_study.stats.verdict import Measured
from longshore_study.store.selection import Side
from longshore_study.study_file import environment_variables
from longshore_study.study_file.study import Hypothesis

_SINGLE = "one session per side: the spread of sessions is unknown"


@dataclass(frozen=True)
class LevelEffect:
    """The change of the suspected levels and of the levels beside them: differences of logarithms,
    new minus reference."""

    verdict: str
    why: str
    suspected: float
    beside: float
    difference: float
    """`suspected` minus `beside`: the part that only the suspected levels have."""
    interval: tuple[float, float] | None
    p: float | None


@dataclass(frozen=True)
class ConfirmationResult:
    hypothesis: Hypothesis
    levels: LevelEffect | None
    """None if only variables are suspected."""
    variables: tuple[VariableEffect, ...]
    """One per state of the machine in which the study measured both settings."""
    warnings: tuple[str, ...]
    restored: tuple[tuple[dict[str, Any], Contrast], ...] = ()
    """For each suspected variant of the new side: with the environment of the reference, compared
    with its own."""

    @property
    def is_about_variables(self) -> bool:
        """Whether the verdict is about the variables: if they are the cause, or the only
        suspects."""
        return self.levels is None or combined_verdict(self.variables) == CONFIRMED

    @property
    def verdict(self) -> str:
        if self.is_about_variables or self.levels is None:
            return combined_verdict(self.variables) or OPEN
        return self.levels.verdict

    @property
    def why(self) -> str:
        if self.levels is not None and not self.is_about_variables:
            return self.levels.why
        return {
            CONFIRMED: "with these variables, and nothing else changed, the change appears",
            REFUTED: "with these variables, and nothing else changed, the change does not appear",
        }.get(self.verdict, "more sessions are needed")


_Sessions = dict[str, dict[Hashable, float]]


def judge(reference: Side, new: Side, hypothesis: Hypothesis, margin: float) -> ConfirmationResult:
    """Raises LongshoreError if a side lacks variants of the hypothesis."""
    limit = math.log1p(margin)
    warnings: list[str] = []
    levels = _levels(reference, new, hypothesis, limit, warnings) if hypothesis.factors else None
    found = _variables((reference, new), hypothesis, limit)
    if levels is None and not found:
        raise LongshoreError(
            "neither side has measured both settings of the variables; was the study run with these tags?"
        )
    return ConfirmationResult(hypothesis, levels, found, tuple(dict.fromkeys(warnings)), _restored(new, hypothesis))


def _variables(sides: Iterable[Side], hypothesis: Hypothesis, limit: float) -> tuple[VariableEffect, ...]:
    if not (hypothesis.environment and hypothesis.new_environment):
        return ()
    suspected = ((side, [f for f in _figures(side) if _suspected(f.key.factors, hypothesis)]) for side in sides)
    effects = (variable_effect(side.name, figures, hypothesis, limit) for side, figures in suspected)
    return tuple(one for one in effects if one is not None)


def _levels(reference: Side, new: Side, hypothesis: Hypothesis, limit: float, warnings: list[str]) -> LevelEffect:
    sides = [_contrast(side, hypothesis) for side in (reference, new)]
    in_turns = sessions_in_turns(reference, new)
    own, inside, outside = (
        effect_of_sessions(sides[0][k], sides[1][k], in_turns, warnings if k == 0 else []) for k in range(3)
    )
    if own is None or inside is None or outside is None:
        raise LongshoreError("the two sides have no common sessions of the hypothesis to compare")
    parts = (inside.difference, outside.difference, own.difference)
    if own.welch_se is None or not own.df:
        return LevelEffect(OPEN, _SINGLE, *parts, None, None)
    row = Measured(own.difference, math.sqrt((own.variance or 0.0) * own.scale), float(own.df))
    p = verdict.beyond_margin(row, limit)
    found = verdict_of(row, p, hypothesis, limit)
    return LevelEffect(found, _why(found, p), *parts, effect.interval(row.difference, row.se, row.df), p)


def _why(found: str, p: float) -> str:
    if found == CONFIRMED:
        return "the suspected levels changed, and the levels beside them did not change as much"
    if found == OPEN:
        return "more sessions are needed"
    if p <= verdict.LEVEL:
        return "the suspected levels changed in the other direction"
    return "the suspected levels did not change more than the levels beside them"


def _restored(new: Side, hypothesis: Hypothesis) -> tuple[tuple[dict[str, Any], Contrast], ...]:
    if not hypothesis.environment:
        return ()
    pairs: dict[str, tuple[list[Figure], list[Figure]]] = defaultdict(lambda: ([], []))
    for figure in _figures(new):
        environment = figure.key.cell.get("environment")
        if _suspected(figure.key.factors, hypothesis) and environment != hypothesis.new_environment:
            pairs[figure.key.variant_text][environment == hypothesis.environment].append(figure)
    both = {text: pair for text, pair in pairs.items() if all(pair)}
    found = contrasts(list(both.values()))
    variants = [pair[0][0].key.variant for pair in both.values()]
    return tuple((variant, one) for variant, one in zip(variants, found, strict=True) if one is not None)


def _figures(side: Side) -> list[Figure]:
    return [f for f in measure(side.launches).figures if f.main and f.key.pattern != CONTROL]


def _contrast(side: Side, hypothesis: Hypothesis) -> tuple[_Sessions, _Sessions, _Sessions]:
    """By session and launch: the difference between suspected and other levels, suspected,
    others."""
    groups: dict[bool, list[Figure]] = {True: [], False: []}
    for figure in _figures(side):
        environment = figure.key.cell.get("environment")
        if environment and environment in (hypothesis.environment, hypothesis.new_environment):
            continue  # _variables answers that question
        groups[_suspected(figure.key.factors, hypothesis)].append(figure)
    for wanted, what in ((True, "suspected levels"), (False, "levels beside the suspected ones")):
        if not groups[wanted]:
            raise LongshoreError(f"'{side.name}' has measured none of the {what}; was the study run with this tag?")
    by_launch = [_means(groups[wanted], by_launch=True) for wanted in (True, False)]
    if any(by_launch[0].get(s, {}).keys() & by_launch[1].get(s, {}).keys() for s in by_launch[0]):
        return _differences(by_launch[0], by_launch[1])
    by_session = [_means(groups[wanted], by_launch=False) for wanted in (True, False)]
    return _differences(by_session[0], by_session[1])


def _suspected(factors: Mapping[str, Any], hypothesis: Hypothesis) -> bool:
    return all(factors.get(name) in levels for name, levels in hypothesis.factors.items())


def _means(figures: Iterable[Figure], *, by_launch: bool) -> _Sessions:
    """Means over variants. They need no normalisation: each launch of a study has the same
    variants."""
    found: dict[str, dict[Hashable, list[float]]] = defaultdict(lambda: defaultdict(list))
    for figure in figures:
        found[figure.session][figure.launch if by_launch else ""].append(figure.goodness)
    return {s: {k: math.fsum(v) / len(v) for k, v in launches.items()} for s, launches in found.items()}


def _differences(inside: _Sessions, outside: _Sessions) -> tuple[_Sessions, _Sessions, _Sessions]:
    kept = {s: inside[s].keys() & outside.get(s, {}).keys() for s in inside}
    sessions = [s for s, units in kept.items() if units]
    return (
        {s: {u: inside[s][u] - outside[s][u] for u in kept[s]} for s in sessions},
        {s: {u: inside[s][u] for u in kept[s]} for s in sessions},
        {s: {u: outside[s][u] for u in kept[s]} for s in sessions},
    )


def document(found: ConfirmationResult, names: Sequence[str]) -> dict[str, Any]:
    """The document of `attribute --confirm --json`. Ratios are of goodness: below 1 is slower."""
    levels = found.levels
    effect_: dict[str, Any] = {"suspected": None, "beside": None, "ratio": None, "interval": None, "p": None}
    if levels is not None:
        effect_ = {"suspected": ratio(levels.suspected, "higher"), "beside": ratio(levels.beside, "higher"),
                **_ratio(levels.difference, levels.interval), "p": levels.p}  # fmt: skip
    return {
        "schema": 1, "reference": names[0], "new": names[1], "verdict": found.verdict, "why": found.why, **effect_,
        "levels_verdict": levels.verdict if levels is not None else None,
        "variables_verdict": combined_verdict(found.variables),
        "variables": {
            "reference": environment_variables.to_table(found.hypothesis.environment),
            "new": environment_variables.to_table(found.hypothesis.new_environment),
            "effects": [
                {"side": one.side, "verdict": one.verdict, **_ratio(one.difference, one.interval), "p": one.p}
                for one in found.variables
            ],
        },
        "warnings": list(found.warnings),
        "environment_restored": [
            {"variant": variant, "ratio": one.ratio, "interval": list(one.interval) if one.interval else None}
            for variant, one in found.restored
        ],
    }  # fmt: skip


def _ratio(difference: float, bounds: tuple[float, float] | None) -> dict[str, Any]:
    return {"ratio": ratio(difference, "higher"), "interval": ratios(bounds, "higher") if bounds else None}
