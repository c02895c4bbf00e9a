"""A judged row as `compare --json` prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from longshore_study.compare.estimate import COMMON_SHIFT, ratio, ratio_document, ratios
from longshore_study.compare.pairing import Row, by_session
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect, student
from longshore_study.stats.effect import Effect


def row_document(row: Row) -> dict[str, Any]:
    figures = [*row.reference, *row.new]
    unit, better = (figures[0].unit, figures[0].better) if figures else ("", "higher")
    found, mod, judged, shown = row.effect, row.moderated, row.judgement, row.estimate
    document: dict[str, Any] = {
        "study": row.key.study or None,
        "pattern": row.key.pattern,
        "variant": row.key.variant,
        "between": row.key.cell,
        "metric": row.key.metric,
        "verdict": row.verdict,
        **ratio_document(row.estimate, better),
        "reference": _centre(row.used[0]),
        "new": _centre(row.used[1]),
        "unit": unit,
        "better": better,
        "sessions": [len({f.session for f in side}) for side in (row.reference, row.new)],
        "launches": [len({f.launch for f in side}) for side in (row.reference, row.new)],
        "design": found.design if found else None,
        "warnings": row.warnings,
    }
    if found and mod:
        prior = None if math.isinf(mod.prior_df) else mod.prior_df
        document["moderated"] = {"se": mod.se, "df": _finite(mod.df), "prior_df": prior}
        document["welch"] = _welch(row.adjustment.plain if row.adjustment else found, better)
    if row.adjustment and shown:
        document["pulse"] = {
            "slope": row.adjustment.slope,
            "variance_explained": row.adjustment.explained,
            "groups": row.adjustment.groups,
            "ratio_without": ratio(shown.raw, better),
        }
    if judged:
        document |= {"p": judged.p, "adjusted_p": judged.adjusted_p, "holm_p": judged.holm_p}
        document["equivalence_p"] = judged.equivalence_p
        document["smallest_slowdown"] = slowdown_share(judged.detectable)
    if shown and COMMON_SHIFT in shown.taken_out and shown.interval:  # what `ratio` was called before it was the one
        document["without_shift"] = {name: document[name] for name in ("ratio", "interval")}
    return document


def _welch(plain: Effect, better: str) -> dict[str, Any] | None:
    """The raw ratio with the interval of this row's figures alone."""
    if plain.welch_se is None or plain.welch_df is None:
        return None
    difference = plain.difference
    t = difference / plain.welch_se if plain.welch_se else math.copysign(math.inf, difference)
    bounds = effect.interval(difference, plain.welch_se, plain.welch_df)
    p = student.two_sided(t, plain.welch_df)
    return {"df": plain.welch_df, "p": p, "ratio": ratio(difference, better), "interval": ratios(bounds, better)}


def slowdown_share(detectable: float) -> float:
    """A difference of logarithms as a share: 0.1 for ten per cent slower, in the sense of the
    margin."""
    return math.expm1(min(700.0, detectable))


def _centre(figures: Sequence[Figure]) -> float | None:
    """Geometric mean over sessions of the geometric means over their launches
    (estimate.STATISTIC)."""
    sessions = by_session(figures)
    if not sessions:
        return None
    sign = -1.0 if figures[0].better == "lower" else 1.0
    means = [math.fsum(launches.values()) / len(launches) for launches in sessions.values()]
    return math.exp(sign * math.fsum(means) / len(means))


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
