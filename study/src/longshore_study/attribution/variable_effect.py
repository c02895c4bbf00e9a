"""Measures the effect of environment variables within one state of the machine: suspected variants
with the variables as on the new side, and as in the reference. A confirming study
(confirming_study.py) alternates the two settings, so launches are compared within their session."""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from longshore_study.compare.row_effect import effect_of_sessions
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import verdict
from longshore_study.stats.effect import Effect
from longshore_study.stats.verdict import LEVEL
from longshore_study.study_file.study import Hypothesis

CONFIRMED, REFUTED, OPEN = "confirmed", "refuted", "undecided"


@dataclass(frozen=True)
class VariableEffect:
    """The effect of the suspected environment variables in one state of the machine."""

    side: str
    """The state of the machine."""
    verdict: str
    difference: float
    """Difference of logarithms, as on the new side minus as in the reference: positive is good."""
    interval: tuple[float, float] | None
    p: float | None


_Sessions = dict[str, dict[Hashable, list[float]]]


def variable_effect(
    side: str, figures: Iterable[Figure], hypothesis: Hypothesis, limit: float
) -> VariableEffect | None:
    """The effect, or None if no session has both settings. `limit`: the margin as a logarithm."""
    settings = (hypothesis.environment, hypothesis.new_environment)
    rows: dict[tuple[Any, ...], tuple[list[Figure], list[Figure]]] = defaultdict(lambda: ([], []))
    for figure in figures:
        environment = figure.key.cell.get("environment")
        if environment in settings:
            others = tuple(sorted((k, str(v)) for k, v in figure.key.cell.items() if k != "environment"))
            rows[figure.session, figure.key.variant_text, others][settings.index(environment)].append(figure)
    sides: list[_Sessions] = [defaultdict(lambda: defaultdict(list)) for _ in settings]
    for (session, *_), pair in rows.items():
        if not all(pair):
            continue
        # Variants and cells have different levels, so figures are taken relative to the mean.
        centre = math.fsum(f.goodness for f in (*pair[0], *pair[1])) / (len(pair[0]) + len(pair[1]))
        for launches, members in zip(sides, pair, strict=True):
            for figure in members:
                launches[session][figure.launch].append(figure.goodness - centre)
    reference, new = ({s: {k: fmean(v) for k, v in of.items()} for s, of in side.items()} for side in sides)
    found = effect_of_sessions(reference, new, frozenset(reference), [])
    if found is None:
        return None
    word, interval, p = judged(found, hypothesis, limit)
    return VariableEffect(side, word, found.difference, interval, p)


def judged(found: Effect, hypothesis: Hypothesis, limit: float) -> tuple[str, tuple[float, float] | None, float | None]:
    """The verdict with the interval and the p value, which are None if the error is not known."""
    row = verdict.with_own_error(found)
    if row is None:
        return OPEN, None, None
    p = verdict.beyond_margin(row, limit)
    if p <= LEVEL:
        word = CONFIRMED if row.difference * math.log(hypothesis.ratio) > 0.0 else REFUTED
    else:
        word = REFUTED if verdict.within_margin(row, limit) <= LEVEL else OPEN
    return word, row.interval, p


def combined_verdict(effects: Iterable[VariableEffect]) -> str | None:
    """The verdict over several states of the machine. None without effects."""
    verdicts = {found.verdict for found in effects}
    if not verdicts:
        return None
    return REFUTED if REFUTED in verdicts else OPEN if OPEN in verdicts else CONFIRMED
