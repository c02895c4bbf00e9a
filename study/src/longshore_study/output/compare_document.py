"""A comparison as JSON: what `longshore compare --json` prints and the report offers for download.

The keys are part of the command line's contract (docs/reference/commands.md). To add one, add it to
`row_document` and read its value from compare/judged_row.py.
"""

from __future__ import annotations

import math
from typing import Any

from longshore_study.compare.common_shift import CommonShift
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.differences import differences
from longshore_study.compare.estimate import COMMON_SHIFT, STATISTIC, ratio, ratios
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.stats import effect, student
from longshore_study.stats.effect import Effect
from longshore_study.stats.verdict import Measured

SCHEMA = 1


def document(comparison: Comparison) -> dict[str, Any]:
    explained = comparison.pulse_explained
    return {
        "schema": SCHEMA,
        "reference": comparison.reference.name,
        "new": comparison.new.name,
        "margin": comparison.margin,
        "verdict": comparison.verdict,
        "statistic": STATISTIC,
        "counts": comparison.counts,
        "common_shift": _shift(comparison.shift),
        "pulse": {"rows": len(explained), "variance_explained": [min(explained), max(explained)]}
        if explained
        else None,
        "rows": [row_document(row) for row in comparison.rows],
        "differences": [found.as_json() for found in differences(comparison.reference, comparison.new)],
        "problems": comparison.problems,
    }


def row_document(row: JudgedRow) -> dict[str, Any]:
    mod, judged = row.moderated, row.judgement
    document: dict[str, Any] = {
        "study": row.key.study or None,
        "pattern": row.key.pattern,
        "variant": row.key.variant,
        "between": row.key.cell,
        "metric": row.key.metric,
        "verdict": row.verdict,
        "ratio": row.ratio,
        "interval": _listed(row.interval),
        "ratio_is": row.ratio_kind or None,
        "raw": {"ratio": row.raw_ratio, "interval": _listed(row.raw_interval)} if row.estimate else None,
        "reference": row.reference_mean,
        "new": row.new_mean,
        "unit": row.unit,
        "better": row.better,
        "sessions": list(row.sessions),
        "launches": list(row.launches),
        "design": row.effect.design if row.effect else None,
        "warnings": list(row.warnings),
    }
    if row.effect and mod:
        document["moderated"] = {"se": mod.se, "df": _finite(mod.df), "prior_df": _finite(mod.prior_df)}
        document["welch"] = _welch(row.adjustment.plain if row.adjustment else row.effect, row.better)
    if row.adjustment and row.estimate:
        document["pulse"] = {
            "slope": row.adjustment.slope,
            "variance_explained": row.adjustment.explained,
            "groups": row.adjustment.groups,
            "ratio_without": row.raw_ratio,
        }
    if judged:
        document |= {"p": judged.p, "adjusted_p": judged.adjusted_p, "holm_p": judged.holm_p}
        document["equivalence_p"] = judged.equivalence_p
        document["smallest_slowdown"] = row.smallest_slowdown
    if row.estimate and COMMON_SHIFT in row.estimate.taken_out and row.estimate.interval:
        # The old name of the judged ratio, from when `ratio` was the raw one.
        document["without_shift"] = {name: document[name] for name in ("ratio", "interval")}
    return document


def _shift(shift: CommonShift) -> dict[str, Any]:
    """Ratios are of goodness: below 1 the new side is slower, for latencies too."""
    return {
        **_ratio(shift.measured),
        "verdict": shift.verdict,
        "removed": shift.removed,
        "reason": shift.reason,
        "controls": [{"kernel": kernel, **_ratio(one)} for kernel, one in sorted(shift.kernels.items())],
    }


def _ratio(one: Measured | None) -> dict[str, Any]:
    if one is None:
        return {"ratio": None, "interval": None}
    bounds = effect.interval(one.difference, one.se, one.df)
    return {"ratio": math.exp(one.difference), "interval": [math.exp(bound) for bound in bounds]}


def _welch(plain: Effect, better: str) -> dict[str, Any] | None:
    """The raw ratio with the interval from the figures of this row alone."""
    if plain.welch_se is None or plain.welch_df is None:
        return None
    difference = plain.difference
    t = difference / plain.welch_se if plain.welch_se else math.copysign(math.inf, difference)
    bounds = effect.interval(difference, plain.welch_se, plain.welch_df)
    p = student.two_sided(t, plain.welch_df)
    return {"df": plain.welch_df, "p": p, "ratio": ratio(difference, better), "interval": ratios(bounds, better)}


def _listed(bounds: tuple[float, float] | None) -> list[float] | None:
    return list(bounds) if bounds else None


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
