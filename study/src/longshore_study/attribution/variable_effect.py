"""Measures the effect of environment variables: the suspected variants with the variables as on the
new side, compared with the variables as in the reference, within one state of the machine. A
confirming study (confirming_study.py) alternates both, so launches are compared within their
session.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from longshore_study.compare.row_effect import effect_of_sessions
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect, verdict
from longshore_study.stats.verdict import LEVEL, Measured
from longshore_study.study_file.study import Hypothesis

CONFIRMED, REFUTED, OPEN = "confirmed", "refuted", "undecided"


@dataclass(frozen=True)
class VariableEffect:
    """The effect in one state of the machine."""

    side: str
    verdict: str
    difference: float
    """Difference of the logarithms of goodness: as on the new side minus as in the reference."""
    interval: tuple[float, float] | None
    """95 % confidence interval of the difference."""
    p: float | None


_Launches = dict[Hashable, list[float]]
_Sessions = dict[str, _Launches]


def _launches() -> _Launches:
    return defaultdict(list)


def variable_effect(
    side: str, figures: Iterable[Figure], hypothesis: Hypothesis, limit: float
) -> VariableEffect | None:
    """The effect from figures of suspected variants. None if no session has both settings."""
    settings = (hypothesis.environment, hypothesis.new_environment)
    rows: dict[tuple[Any, ...], tuple[list[Figure], list[Figure]]] = defaultdict(lambda: ([], []))
    for figure in figures:
        environment = figure.key.cell.get("environment")
        if environment in settings:
            others = tuple(sorted((k, str(v)) for k, v in figure.key.cell.items() if k != "environment"))
            rows[figure.session, figure.key.variant_text, others][settings.index(environment)].append(figure)
    sides: tuple[_Sessions, _Sessions] = (
        defaultdict(lambda: defaultdict(list)),
        defaultdict(lambda: defaultdict(list)),
    )
    for (session, *_), pair in rows.items():
        if not all(pair):
            continue
        # Relative to the row, since variants and cells differ.
        centre = math.fsum(f.goodness for f in (*pair[0], *pair[1])) / (len(pair[0]) + len(pair[1]))
        for launches, members in zip(sides, pair, strict=True):
            for figure in members:
                launches[session][figure.launch].append(figure.goodness - centre)
    reference, new = (
        {s: {k: math.fsum(v) / len(v) for k, v in of.items()} for s, of in side.items()} for side in sides
    )
    found = effect_of_sessions(reference, new, frozenset(reference), [])
    if found is None:
        return None
    if found.variance is None:
        return VariableEffect(side, OPEN, found.difference, None, None)
    row = Measured(found.difference, math.sqrt(found.variance * found.scale), float(found.df))
    p = verdict.beyond_margin(row, limit)
    bounds = effect.interval(row.difference, row.se, row.df)
    return VariableEffect(side, verdict_of(row, p, hypothesis, limit), row.difference, bounds, p)


def verdict_of(row: Measured, p: float, hypothesis: Hypothesis, limit: float) -> str:
    """Confirmed: beyond the margin in the expected direction. Refuted: in the other direction, or
    within the margin."""
    if p <= LEVEL:
        return CONFIRMED if row.difference * math.log(hypothesis.ratio) > 0.0 else REFUTED
    return REFUTED if verdict.within_margin(row, limit) <= LEVEL else OPEN


def combined_verdict(effects: Iterable[VariableEffect]) -> str | None:
    """The verdict over all states in which both settings were measured. None if there is none."""
    words = {one.verdict for one in effects}
    if not words:
        return None
    return REFUTED if REFUTED in words else OPEN if OPEN in words else CONFIRMED
