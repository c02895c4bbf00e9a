"""Measures the effect of environment variables within one state of the machine: suspected variants
with the variables as on the new side, and as in the reference. A confirming study
(confirming_study.py) alternates the two settings, so launches are compared within their session."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longshore_study.base.groups import mean_by
from longshore_study.base.json_values import canonical
from longshore_study.compare.row_effect import effect_of_sessions
from longshore_study.metrics.launch_metrics import Figure, by_session
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


def variable_effect(
    side: str, figures: Sequence[Figure], hypothesis: Hypothesis, limit: float
) -> VariableEffect | None:
    """The effect, or None if no session has both settings. `limit`: the margin as a logarithm."""
    settings = (hypothesis.environment, hypothesis.new_environment)

    def row_of(figure: Figure) -> tuple[str, str, str]:
        others = {name: level for name, level in figure.key.cell.items() if name != "environment"}
        return figure.session, figure.key.variant_text, canonical(others)

    sides = [[f for f in figures if f.key.cell.get("environment") == setting] for setting in settings]
    shared = set(map(row_of, sides[0])) & set(map(row_of, sides[1]))
    sides = [[f for f in members if row_of(f) in shared] for members in sides]
    # Variants and cells have different levels, so figures are taken relative to the mean.
    centres = mean_by((*sides[0], *sides[1]), row_of, lambda f: f.goodness)
    reference, new = (by_session(members, lambda f: f.goodness - centres[row_of(f)]) for members in sides)
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
