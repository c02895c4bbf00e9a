"""A comparison as JSON, for `longshore compare --json` and the downloads of the report.

docs/reference/commands.md documents the keys. To add a key, add it to `row_document` and take its
value from compare/judged_row.py. The key `pulse` is about the noise probe: records say *pulse*.
"""

import math
from typing import Any

from longshore_study.base.json_values import attributes
from longshore_study.compare.common_shift import CommonShift
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.differences import differences
from longshore_study.compare.estimate import COMMON_SHIFT, STATISTIC, metric_ratio, metric_ratios
from longshore_study.compare.factor_levels import FactorComparison
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.compare.slow_hosts import changed_with_hosts, slow_hosts
from longshore_study.stats import effect, student
from longshore_study.stats.effect import Effect
from longshore_study.stats.verdict import Measured


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison, with all keys. `pulse` is None if the probe's noise was removed nowhere."""
    explained = comparison.pulse_explained
    return {
        "schema": 1,
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
        "noise_of": comparison.noise_of,
        "rows": [row_document(row) for row in comparison.rows],
        "differences": [difference.as_json() for difference in differences(comparison.reference, comparison.new)],
        "other_hosts": changed_with_hosts(comparison),
        "slow_hosts": [host.as_json() for host in slow_hosts(comparison)],
        "problems": comparison.problems,
    }


def document_of_levels(levels: FactorComparison) -> dict[str, Any]:
    comparisons = [document(comparison) for comparison in levels.comparisons]
    return {"schema": 1, **attributes(levels, "factor baseline"), "comparisons": comparisons}


def row_document(row: JudgedRow) -> dict[str, Any]:
    """One row of a comparison. Values that a row lacks are None, but these keys are absent:

    - `moderated` and `welch` without an effect and its moderated error
    - `pulse` if the effect of the noise probe was not removed
    - `p`, `adjusted_p`, `holm_p`, `equivalence_p` and `smallest_slowdown` if the row was not tested
    - `without_shift` if the common shift was not removed, or the row has no interval
    """
    moderated, judgement = row.moderated, row.judgement
    document: dict[str, Any] = {
        "study": row.key.study or None,
        "pattern": row.key.pattern,
        "variant": row.key.variant,
        "between": row.key.cell,
        "metric": row.key.metric,
        "verdict": row.verdict,
        "ratio": row.ratio,
        "interval": row.interval and list(row.interval),
        "ratio_is": row.ratio_kind or None,
        "raw": {"ratio": row.raw_ratio, "interval": row.raw_interval and list(row.raw_interval)}
        if row.estimate
        else None,
        "reference": row.reference_mean,
        "new": row.new_mean,
        **attributes(row, "unit better sessions launches"),
        "design": row.effect.design if row.effect else None,
        **attributes(row, "warnings simulated"),
    }
    if row.effect and moderated:
        document["moderated"] = {
            "se": moderated.se, "df": _finite(moderated.df), "prior_df": _finite(moderated.prior_df),
        }  # fmt: skip
        document["welch"] = _welch(row.adjustment.plain if row.adjustment else row.effect, row.better)
    if row.adjustment and row.estimate:
        document["pulse"] = {
            "slope": row.adjustment.slope,
            "variance_explained": row.adjustment.explained,
            "groups": row.adjustment.groups,
            "ratio_without": row.raw_ratio,
        }
    if judgement:
        document |= attributes(judgement, "p adjusted_p holm_p equivalence_p")
        document["smallest_slowdown"] = row.smallest_slowdown
    if row.estimate and COMMON_SHIFT in row.estimate.taken_out and row.estimate.interval:
        # The old name of `ratio` and `interval`, for existing readers.
        document["without_shift"] = {name: document[name] for name in ("ratio", "interval")}
    return document


def _shift(shift: CommonShift) -> dict[str, Any]:
    """The common shift, in ratios of speed: below 1 means slower, also for latencies."""
    return {
        **_ratio(shift.measured),
        "verdict": shift.verdict,
        "removed": shift.removed,
        "reason": shift.reason,
        "controls": [{"kernel": kernel, **_ratio(measured)} for kernel, measured in sorted(shift.kernels.items())],
    }


def _ratio(measured: Measured | None) -> dict[str, Any]:
    """A difference of logarithms as a ratio of speed with its 95 % interval."""
    if measured is None:
        return {"ratio": None, "interval": None}
    return {"ratio": math.exp(measured.difference), "interval": [math.exp(bound) for bound in measured.interval]}


def _welch(raw: Effect, better: str) -> dict[str, Any] | None:
    """The raw ratio with Welch's interval of this row alone. `raw`: before the adjustment."""
    if raw.welch_se is None or raw.welch_df is None:
        return None
    difference = raw.difference
    # If the figures of the row have no variance, the error is 0 and t is infinite.
    t = difference / raw.welch_se if raw.welch_se else math.copysign(math.inf, difference)
    bounds = effect.interval(difference, raw.welch_se, raw.welch_df)
    p = student.two_sided(t, raw.welch_df)
    return {
        "df": raw.welch_df,
        "p": p,
        "ratio": metric_ratio(difference, better),
        "interval": metric_ratios(bounds, better),
    }


def _finite(value: float) -> float | None:
    """Replaces infinity by None, because JSON has no infinity."""
    return None if math.isinf(value) else value
