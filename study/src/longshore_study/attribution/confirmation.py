"""Judges a confirming study (confirming_study.py): whether the suspected levels changed between
two tags by more than the margin, relative to the other levels, and whether variables of the
environment cause the change (variable_effect.py). docs/explanation/statistics.md, "Associated
factors", has the reasons."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.variable_effect import (
    CONFIRMED,
    OPEN,
    REFUTED,
    VariableEffect,
    combined_verdict,
    judged,
    variable_effect,
)
from longshore_study.base.errors import LongshoreError
from longshore_study.base.groups import mean_by
from longshore_study.compare.contrast import Contrast, contrasts
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.compare.row_effect import effect_of_sessions, sessions_in_turns
from longshore_study.metrics.launch_metrics import Figure, by_session, measure
from longshore_study.patterns import CONTROL
from longshore_study.stats import verdict
from longshore_study.stats.effect import Sessions
from longshore_study.store.selection import Side
from longshore_study.study_file import environment_variables
from longshore_study.study_file.study import Hypothesis


@dataclass(frozen=True)
class LevelEffect:
    """The changes between the sides: differences of logarithms, positive if the new is better."""

    verdict: str
    why: str
    suspected: float
    beside: float
    difference: float
    interval: tuple[float, float] | None
    p: float | None


@dataclass(frozen=True)
class ConfirmationResult:
    """The answers of a confirming study to its two questions, and the verdict that follows."""

    hypothesis: Hypothesis
    levels: LevelEffect | None
    """None if only variables are suspected."""
    variables: tuple[VariableEffect, ...]
    """The effects of the variables in each state in which both settings were measured."""
    warnings: tuple[str, ...]
    restored: tuple[tuple[dict[str, Any], Contrast], ...] = ()
    """For each suspected variant of the new side: the effect of the reference's environment."""

    @property
    def is_about_variables(self) -> bool:
        """Whether the verdict is about the variables, not about levels."""
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


def judge(reference: Side, new: Side, hypothesis: Hypothesis, margin: float) -> ConfirmationResult:
    """Answers the questions. Raises LongshoreError if a side lacks variants of the hypothesis."""
    limit = math.log1p(margin)
    warnings: list[str] = []
    levels = _levels(reference, new, hypothesis, limit, warnings) if hypothesis.factors else None
    variables = _variables((reference, new), hypothesis, limit)
    if levels is None and not variables:
        raise LongshoreError(
            "neither side has measured both settings of the variables; was the study run with these tags?"
        )
    return ConfirmationResult(hypothesis, levels, variables, tuple(dict.fromkeys(warnings)), _restored(new, hypothesis))


def _variables(sides: Iterable[Side], hypothesis: Hypothesis, limit: float) -> tuple[VariableEffect, ...]:
    if not (hypothesis.environment and hypothesis.new_environment):
        return ()
    suspected = ((side, [f for f in _figures(side) if _suspected(f.key.factors, hypothesis)]) for side in sides)
    effects = (variable_effect(side.name, figures, hypothesis, limit) for side, figures in suspected)
    return tuple(found for found in effects if found is not None)


def _levels(reference: Side, new: Side, hypothesis: Hypothesis, limit: float, warnings: list[str]) -> LevelEffect:
    before, after = (_means(side, hypothesis) for side in (reference, new))
    in_turns = sessions_in_turns(reference, new)
    suspected, beside, difference = (
        effect_of_sessions(*means, in_turns, warnings) for means in zip(before, after, strict=True)
    )
    if difference is None or suspected is None or beside is None:
        raise LongshoreError("the two sides have no common sessions of the hypothesis to compare")
    parts = (suspected.difference, beside.difference, difference.difference)
    word, interval, p = judged(difference, hypothesis, limit) if difference.welch_se is not None else (OPEN, None, None)
    return LevelEffect(word, _why(word, p), *parts, interval, p)


def _why(word: str, p: float | None) -> str:
    if p is None:
        return "one session per side: the spread of sessions is unknown"
    if word == CONFIRMED:
        return "the suspected levels changed, and the levels beside them did not change as much"
    if word == OPEN:
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
    complete = [pair for pair in pairs.values() if all(pair)]
    ratios_found = contrasts(complete)
    variants = [pair[0][0].key.variant for pair in complete]
    return tuple((variant, found) for variant, found in zip(variants, ratios_found, strict=True) if found is not None)


def _figures(side: Side) -> list[Figure]:
    return [f for f in measure(side.launches).figures if f.main and f.key.pattern != CONTROL]


def _means(side: Side, hypothesis: Hypothesis) -> tuple[Sessions, Sessions, Sessions]:
    """The means of a side by session and launch: suspected levels, levels beside, difference."""
    suspected: list[Figure] = []
    beside: list[Figure] = []
    for figure in _figures(side):
        environment = figure.key.cell.get("environment")
        if environment and environment in (hypothesis.environment, hypothesis.new_environment):
            continue  # such a figure serves only the effect of the variables
        (suspected if _suspected(figure.key.factors, hypothesis) else beside).append(figure)
    for figures, levels in ((suspected, "suspected levels"), (beside, "levels beside the suspected ones")):
        if not figures:
            raise LongshoreError(f"'{side.name}' has measured none of the {levels}; was the study run with this tag?")
    inside, outside = (by_session(figures) for figures in (suspected, beside))
    if not any(launches.keys() & outside.get(session, {}).keys() for session, launches in inside.items()):
        inside, outside = (_by_session_alone(figures) for figures in (suspected, beside))
    shared = {s: launches.keys() & outside.get(s, {}).keys() for s, launches in inside.items()}
    used = {s: names for s, names in shared.items() if names}
    of_suspected, of_beside = (
        {s: {k: of[s][k] for k in names} for s, names in used.items()} for of in (inside, outside)
    )
    return of_suspected, of_beside, {s: {k: inside[s][k] - outside[s][k] for k in names} for s, names in used.items()}


def _suspected(factors: Mapping[str, Any], hypothesis: Hypothesis) -> bool:
    return all(factors.get(name) in levels for name, levels in hypothesis.factors.items())


def _by_session_alone(figures: Iterable[Figure]) -> dict[str, dict[Any, float]]:
    """The mean of each session, in place of its launches."""
    means = mean_by(figures, lambda figure: figure.session, lambda figure: figure.goodness)
    return {session: {"": mean} for session, mean in means.items()}


def document(found: ConfirmationResult, names: Sequence[str]) -> dict[str, Any]:
    """The document of `attribute --confirm --json`. Ratios are of goodness: below 1 is slower."""
    levels = found.levels
    effect_: dict[str, Any] = {"suspected": None, "beside": None, "ratio": None, "interval": None, "p": None}
    if levels is not None:
        effect_ = {"suspected": metric_ratio(levels.suspected, "higher"),
                 "beside": metric_ratio(levels.beside, "higher"),
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
    return {
        "ratio": metric_ratio(difference, "higher"),
        "interval": metric_ratios(bounds, "higher") if bounds else None,
    }
