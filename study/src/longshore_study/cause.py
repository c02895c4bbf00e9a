"""Is it the cause? What the result of a confirming study says (confirm.py): whether the suspected levels have changed
more than those beside them, between two tags, by more than the margin.

Of each launch that measured both, or else of each session, the number is the mean of the suspected variants less that
of the others like them: what the launch, the session or the whole machine does to both is not in it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.contrast import Contrast, contrasts
from longshore_study.errors import LongshoreError
from longshore_study.figures import CONTROL, Figure, measure
from longshore_study.pairing import design, sessions_in_turns
from longshore_study.selection import Side
from longshore_study.statistics import effect, verdict
from longshore_study.statistics.verdict import LEVEL, Measured
from longshore_study.study import Hypothesis

CONFIRMED, REFUTED, OPEN = "confirmed", "refuted", "undecided"


@dataclass(frozen=True)
class Finding:
    verdict: str
    why: str
    suspected: float
    """New / reference in goodness, of the suspected levels."""
    beside: float
    """Of those beside them."""
    ratio: float
    """The one over the other: what is the suspected levels' own."""
    interval: tuple[float, float] | None
    p: float | None
    warnings: tuple[str, ...]
    restored: tuple[tuple[dict[str, Any], Contrast], ...] = ()
    """Of each suspected variant of the new side: with the environment of the reference, against without."""


_Sessions = dict[str, dict[Hashable, float]]


def judge(reference: Side, new: Side, hypothesis: Hypothesis, margin: float) -> Finding:
    """Raises LongshoreError where a side lacks what the hypothesis speaks of."""
    sides = [_contrast(side, hypothesis) for side in (reference, new)]
    warnings: list[str] = []
    in_turns = sessions_in_turns(reference, new)
    own, inside, outside = (design(sides[0][k], sides[1][k], in_turns, warnings if k == 0 else []) for k in range(3))
    if own is None or inside is None or outside is None:
        raise LongshoreError("the two sides have no figures of the hypothesis to compare")
    limit = math.log1p(margin)
    bounds, p, word, why = None, None, OPEN, "one session per side: nothing says how much sessions differ"
    if own.welch_se is not None and own.df:
        se = math.sqrt((own.variance or 0.0) * own.scale)
        row = Measured(own.difference, se, float(own.df))
        bounds, p = effect.interval(row.difference, row.se, row.df), verdict.beyond_margin(row, limit)
        word, why = _verdict(row, p, hypothesis, limit)
    return Finding(
        word, why, math.exp(inside.difference), math.exp(outside.difference), math.exp(own.difference),
        (math.exp(bounds[0]), math.exp(bounds[1])) if bounds else None, p, tuple(dict.fromkeys(warnings)),
        _restored(new, hypothesis),
    )  # fmt: skip


def _verdict(row: Measured, p: float, hypothesis: Hypothesis, limit: float) -> tuple[str, str]:
    expected = math.log(hypothesis.ratio)
    if p <= LEVEL and row.difference * expected > 0.0:
        return CONFIRMED, "the suspected levels changed, and what was measured beside them did not change with them"
    if p <= LEVEL:
        return REFUTED, "the suspected levels changed the other way"
    if verdict.within_margin(row, limit) <= LEVEL:
        return REFUTED, "the suspected levels did not change more than what was measured beside them"
    return OPEN, "more sessions would tell"


def _restored(new: Side, hypothesis: Hypothesis) -> tuple[tuple[dict[str, Any], Contrast], ...]:
    if not hypothesis.environment:
        return ()
    pairs: dict[str, tuple[list[Figure], list[Figure]]] = defaultdict(lambda: ([], []))
    for figure in _figures(new):
        if _suspected(figure.key.factors, hypothesis):
            with_it = figure.key.cell.get("environment") == hypothesis.environment
            pairs[figure.key.variant_text][with_it].append(figure)
    both = {text: pair for text, pair in pairs.items() if all(pair)}
    found = contrasts(list(both.values()))
    variants = [pair[0][0].key.variant for pair in both.values()]
    return tuple((variant, one) for variant, one in zip(variants, found, strict=True) if one is not None)


def _figures(side: Side) -> list[Figure]:
    return [f for f in measure(side.launches).figures if f.main and f.key.pattern != CONTROL]


def _contrast(side: Side, hypothesis: Hypothesis) -> tuple[_Sessions, _Sessions, _Sessions]:
    """By session and launch: suspected less beside, suspected, beside."""
    groups: dict[bool, list[Figure]] = {True: [], False: []}
    for figure in _figures(side):
        if hypothesis.environment and figure.key.cell.get("environment") == hypothesis.environment:
            continue  # that is the other question
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
    """Means over variants, each relative to nothing: the same variants are in every launch of a study."""
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


def document(finding: Finding, names: Sequence[str]) -> dict[str, Any]:
    """What `attribute --confirm --json` prints."""
    return {
        "schema": 1, "reference": names[0], "new": names[1], "verdict": finding.verdict, "why": finding.why,
        "suspected": finding.suspected, "beside": finding.beside, "ratio": finding.ratio,
        "interval": list(finding.interval) if finding.interval else None, "p": finding.p,
        "warnings": list(finding.warnings),
        "environment_restored": [
            {"variant": variant, "ratio": one.ratio, "interval": list(one.interval) if one.interval else None}
            for variant, one in finding.restored
        ],
    }  # fmt: skip
