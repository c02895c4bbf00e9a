"""A judged row as `compare --json` prints it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from longshore_study.figures import Figure
from longshore_study.pairing import Row, by_session
from longshore_study.statistics import effect, student
from longshore_study.statistics.effect import Effect


def row_document(row: Row) -> dict[str, Any]:
    figures = [*row.reference, *row.new]
    unit, better = (figures[0].unit, figures[0].better) if figures else ("", "higher")
    sign = -1.0 if better == "lower" else 1.0
    found, mod, judged = row.effect, row.moderated, row.judgement
    document: dict[str, Any] = {
        "study": row.key.study or None,
        "pattern": row.key.pattern,
        "variant": row.key.variant,
        "between": row.key.cell,
        "metric": row.key.metric,
        "verdict": row.verdict,
        "ratio": math.exp(sign * found.difference) if found else None,
        "interval": None,
        "reference": _centre(row.reference),
        "new": _centre(row.new),
        "unit": unit,
        "better": better,
        "sessions": [len({f.session for f in side}) for side in (row.reference, row.new)],
        "launches": [len({f.launch for f in side}) for side in (row.reference, row.new)],
        "design": found.design if found else None,
        "warnings": row.warnings,
    }
    if found and mod:
        document["interval"] = ratios(effect.interval(found.difference, mod.se, mod.df), sign)
        prior = None if math.isinf(mod.prior_df) else mod.prior_df
        document["moderated"] = {"se": mod.se, "df": _finite(mod.df), "prior_df": prior}
        document["welch"] = _welch(found, found.difference - _moved(row), sign)
    if row.adjustment and found:
        document["pulse"] = {
            "slope": row.adjustment.slope,
            "variance_explained": row.adjustment.explained,
            "groups": row.adjustment.groups,
            "ratio_without": math.exp(sign * (found.difference - _moved(row))),
        }
    if judged:
        document |= {"p": judged.p, "adjusted_p": judged.adjusted_p, "holm_p": judged.holm_p}
        document["equivalence_p"] = judged.equivalence_p
        document["smallest_slowdown"] = slowdown_share(judged.detectable)
        if row.shift_removed:
            middle = (judged.interval[0] + judged.interval[1]) / 2.0
            document["without_shift"] = {"ratio": math.exp(sign * middle), "interval": ratios(judged.interval, sign)}
    return document


def _moved(row: Row) -> float:
    return row.adjustment.moved if row.adjustment else 0.0


def _welch(found: Effect, difference: float, sign: float) -> dict[str, Any] | None:
    """The plain result beside the moderated one: from this row's figures alone, without its pulse."""
    if found.welch_se is None or found.welch_df is None:
        return None
    t = difference / found.welch_se if found.welch_se else math.copysign(math.inf, difference)
    bounds = effect.interval(difference, found.welch_se, found.welch_df)
    return {"df": found.welch_df, "p": student.two_sided(t, found.welch_df), "interval": ratios(bounds, sign)}


def ratios(bounds: tuple[float, float], sign: float) -> list[float]:
    """Bounds on the log scale of goodness as ratios of the metric, the smaller one first."""
    return sorted(math.exp(max(-700.0, min(700.0, sign * bound))) for bound in bounds)


def slowdown_share(detectable: float) -> float:
    """A difference of logarithms as a share: 0.1 for ten per cent slower, in the sense of the margin."""
    return math.expm1(min(700.0, detectable))


def _centre(figures: Sequence[Figure]) -> float | None:
    """Geometric mean over sessions of the geometric means over their launches."""
    sessions = by_session(figures)
    if not sessions:
        return None
    sign = -1.0 if figures[0].better == "lower" else 1.0
    means = [math.fsum(launches.values()) / len(launches) for launches in sessions.values()]
    return math.exp(sign * math.fsum(means) / len(means))


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else value
