"""Compares simulated rows. A simulated figure has no noise: the same program, machine and seed give
the same time. So the ratio of two sides is exact, and the margin decides without a test."""

import math
from dataclasses import replace
from statistics import fmean

from longshore_study.base.errors import LongshoreError
from longshore_study.compare.estimate import Estimate
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import one_simulated_machine
from longshore_study.stats import effect, verdict


def refuse_mixed(row: JudgedRow) -> None:
    """Raises LongshoreError if the row mixes measured and simulated figures."""
    for figures in (row.reference, row.new):
        one_simulated_machine(figures, "a side of a row")
    if len({figure.simulated is None for figure in row.figures}) > 1:
        raise LongshoreError(
            "a row would compare measured with simulated figures: a prediction is no change; lay both side by side "
            "with 'longshore show --predicted'"
        )


def judged(row: JudgedRow, margin: float) -> JudgedRow:
    """The row with its verdict. REQUIRES: the row is simulated."""
    if not row.reference or not row.new:
        return row
    found = effect.unpaired(
        *({"simulated": fmean(figure.goodness for figure in figures)} for figures in (row.reference, row.new))
    )
    difference, limit = found.difference, math.log1p(margin)
    word = verdict.SAME if abs(difference) <= limit else verdict.IMPROVED if difference > 0 else verdict.REGRESSED
    exact = Estimate(difference, None, difference, None, ())
    return replace(row, effect=found, estimate=exact, verdict=word)
