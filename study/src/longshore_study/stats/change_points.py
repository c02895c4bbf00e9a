"""When a metric changed: finds steps in series of session means, for many rows at once.

1. Candidates: least squares with a penalty per step (Potts functional), solved by dynamic
   programming (optimal partition, Jackson et al. 2005).
2. Test: each step is tested against the margin. The weakest step that fails is removed, and the
   rest is tested again.

The noise is estimated from differences of neighbouring sessions, since a step changes only one
difference. Correlated sessions carry less information than independent ones. Differences over one
and over two sessions estimate the correlation (Chakar, Lebarbier, Levy-Leduc, Robin 2017), which
widens the standard error. A change that a slope explains as well is called a drift, not a step.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace

from longshore_study.stats import effect, moderated, multiplicity, student, verdict
from longshore_study.stats.effect import Effect
from longshore_study.stats.verdict import LEVEL, Measured

LEAST_SESSIONS = 2  # on each side of a step: one session alone may be an outlier
FEWEST = 2 * LEAST_SESSIONS
STEP, DRIFT = "step", "drift"
_PENALTY = 3.0  # per step, times the logarithm of the number of sessions
_MOST_STEPS = 8
_MOST_CORRELATED = 0.97
_ASSUMED_CORRELATION = 0.4
_KEPT_PART = 0.6  # of the squared differences; the largest ones may be steps
_KEPT_MEAN = 0.213  # mean of the smallest 60 % of squared standard normal variates
_MANY = 8  # sessions about a step, from which on the order of the sessions is tested, too
_ENOUGH_FOR_CORRELATION = 12  # sessions from which on the correlation is estimated
_CAUTION = 2.0  # standard errors that are added to the estimated correlation
_NEAR = 4  # sessions on each side that must show the step
_NEAR_PART = 0.6
_EFFICIENCY = 2.0 / 3.0  # of a variance estimated from differences, against a known mean (Rice 1984)


@dataclass(frozen=True)
class Change:
    """The level changes by `difference` between units `at - 1` and `at`. The difference is of
    logarithms; positive is better."""

    at: int
    kind: str
    difference: float
    interval: tuple[float, float]
    p: float
    """P value of the hypothesis that the change is within the margin, corrected for the number of
    places where the step could be."""
    adjusted_p: float
    known: bool
    """An event marked this place. False: the search over all places found it."""
    span: tuple[int, int]
    """The compared units: from the previous step (or the beginning) to the next (or the end)."""


@dataclass(frozen=True)
class History:
    changes: tuple[Change, ...]
    correlation: float
    noise: float | None
    """Standard deviation of a session, of the logarithm. None when there is no estimate."""


@dataclass
class _Row:
    values: Sequence[float]
    known: frozenset[int]
    steps: list[int]

    def pieces(self) -> list[tuple[int, int]]:
        edges = [0, *sorted(self.steps), len(self.values)]
        return list(itertools.pairwise(edges))


_Judged = dict[tuple[int, int], tuple[Effect, float, Measured]]
"""By row and place: the step, its p value corrected for the number of places, and its estimate."""


def find_changes(
    series: Sequence[Sequence[float]], margin: float, events: Sequence[Collection[int]] | None = None
) -> list[History]:
    """The steps and drifts of each row that are significantly larger than the margin. All rows are
    one family of hypotheses.

    `events`: per row, the units that begin after a known event. These places are tested first, and
    without the correction for the number of places.
    """
    limit = math.log1p(margin)
    known = events or [()] * len(series)
    rows = [
        _Row(values, frozenset(k for k in places if LEAST_SESSIONS <= k <= len(values) - LEAST_SESSIONS), [])
        for values, places in zip(series, known, strict=True)
    ]
    correlation = pooled_correlation(series)
    # Events first: an event without a change must not divide the series for the later search.
    for row in rows:
        row.steps = _spaced(row.known)
    _eliminate(rows, correlation, limit)
    for row in rows:
        row.steps = _candidates(row, correlation)
    judged = _eliminate(rows, correlation, limit)
    return _histories(rows, judged, correlation)


def pooled_correlation(series: Sequence[Sequence[float]]) -> float:
    """The correlation of neighbouring sessions, pooled over the rows.

    In an autoregressive series of first order without slope, the mean squared difference over two
    sessions is 1 + r times that over one. Short series shrink the estimate towards an assumed
    correlation; very short ones use the assumption.
    """
    one, two = 0.0, 0.0
    for values in series:
        slope = statistics.median(b - a for a, b in itertools.pairwise(values)) if len(values) > 1 else 0.0
        singles = _lowest([(b - a - slope) ** 2 for a, b in itertools.pairwise(values)])
        doubles = _lowest([(b - a - 2.0 * slope) ** 2 for a, b in zip(values, values[2:], strict=False)])
        if singles and doubles and sum(singles) > 0.0:
            scale = sum(singles) / len(singles)
            one += len(values)
            two += len(values) * (sum(doubles) / len(doubles)) / scale
    length = max((len(values) for values in series), default=0)
    if one == 0.0 or length < _ENOUGH_FOR_CORRELATION:
        return _ASSUMED_CORRELATION
    estimate = min(1.0, max(0.0, two / one - 1.0))
    # Underestimating the correlation turns slow variation into steps. So a high estimate is shrunk
    # less, and increased by its standard error.
    few = _ENOUGH_FOR_CORRELATION
    assumed = few if estimate < _ASSUMED_CORRELATION else few * few / length
    error = math.sqrt((1.0 - estimate * estimate) / sum(map(len, series)))
    careful = estimate * (1.0 + _CAUTION * error)
    return min(1.0, (length * careful + assumed * _ASSUMED_CORRELATION) / (length + assumed))


def _lowest(squares: list[float]) -> list[float]:
    return sorted(squares)[: max(1, math.ceil(_KEPT_PART * len(squares)))] if squares else []


def _spaced(places: Collection[int]) -> list[int]:
    """The places with enough sessions between them. Of two close places, the later one stays."""
    kept: list[int] = []
    for place in sorted(places, reverse=True):
        if not kept or kept[-1] - place >= LEAST_SESSIONS:
            kept.append(place)
    return sorted(kept)


def _candidates(row: _Row, correlation: float) -> list[int]:
    """The existing steps, and the optimal partition of the sessions between them."""
    squares = _lowest([(b - a) ** 2 for a, b in itertools.pairwise(row.values)])
    variance = sum(squares) / len(squares) / 2.0 / _KEPT_MEAN if squares else 0.0
    found = list(row.steps)
    if variance <= 0.0:
        variance = 1e-12
    price = _PENALTY * math.log(len(row.values)) * variance * _inflation(correlation, len(row.values))
    for first, last in row.pieces():
        found += [first + k for k in _partition(row.values[first:last], price)]
    if len(found) > _MOST_STEPS:
        sizes = {k: abs(row.values[k] - row.values[k - 1]) for k in found}
        found = sorted(found, key=lambda k: sizes[k])[-_MOST_STEPS:]
    return sorted(found)


def _partition(values: Sequence[float], price: float) -> list[int]:
    """The cuts that minimise the squared deviations from the means of the parts plus `price` per
    cut."""
    count = len(values)
    if count < FEWEST:
        return []
    sums, squares = [0.0], [0.0]
    for value in values:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    best = [math.inf] * (count + 1)
    best[0] = -price
    before = [0] * (count + 1)
    for end in range(LEAST_SESSIONS, count + 1):
        for start in range(end - LEAST_SESSIONS + 1):
            if math.isinf(best[start]):
                continue
            total = sums[end] - sums[start]
            cost = best[start] + price + squares[end] - squares[start] - total * total / (end - start)
            if cost < best[end]:
                best[end], before[end] = cost, start
    cuts = []
    place = before[count]
    while place > 0:
        cuts.append(place)
        place = before[place]
    return cuts


def _inflation(correlation: float, count: int) -> float:
    """Variance of the mean of `count` correlated sessions, relative to independent ones."""
    r = min(correlation, _MOST_CORRELATED)
    if r == 0.0 or count == 1:
        return 1.0
    return (1.0 + r) / (1.0 - r) - 2.0 * r * (1.0 - r**count) / (count * (1.0 - r) ** 2)


def _effect(row: _Row, place: int, correlation: float) -> Effect:
    """The step at `place`, with the noise estimated from the differences of the row."""
    edges = row.pieces()
    left = next(piece for piece in edges if piece[1] == place)
    right = next(piece for piece in edges if piece[0] == place)
    counts = (left[1] - left[0], right[1] - right[0])
    difference = _mean(row.values[right[0] : right[1]]) - _mean(row.values[left[0] : left[1]])
    return _noise_of(row, correlation, difference, counts)


def _noise_of(row: _Row, correlation: float, difference: float, counts: tuple[int, int]) -> Effect:
    """A difference of means over `counts` sessions, with the noise of neighbouring sessions that no
    step separates."""
    cuts = set(row.steps)
    gaps: list[tuple[Hashable, float]] = [
        (k, (row.values[k] - row.values[k - 1]) / math.sqrt(2.0)) for k in range(1, len(row.values)) if k not in cuts
    ]
    r = min(correlation, _MOST_CORRELATED)
    df = max(1, round(_EFFICIENCY * len(gaps) * math.sqrt((1.0 - r) / (1.0 + r))))
    total = math.fsum(gap * gap for _, gap in gaps)
    variance = total / len(gaps) / (1.0 - r) if gaps else None
    scale = sum(_inflation(correlation, n) / n for n in counts)
    # Scale the residuals so that their squares add up to variance * df, as moderation requires.
    scaling = math.sqrt(variance * df / total) if variance and total > 0.0 else 1.0
    residuals = tuple((k, gap * scaling) for k, gap in gaps)
    return Effect("history", difference, variance, df if variance is not None else 0, scale, counts, residuals)


def _eliminate(rows: Sequence[_Row], correlation: float, limit: float) -> _Judged:
    """Removes the weakest step of each row until all remaining steps pass. Returns the tests of
    the remaining steps by row and place."""
    while True:
        tested = [(i, k) for i, row in enumerate(rows) for k in row.steps]
        effects = [_effect(rows[i], k, correlation) for i, k in tested]
        # Rows without a step contribute to the noise estimate, too.
        quiet = [_noise_of(row, correlation, 0.0, (1, 1)) for row in rows if not row.steps]
        judged: _Judged = {}
        for (i, k), found, result in zip(tested, effects, moderated.moderate([*effects, *quiet]), strict=False):
            p, measured = 1.0, Measured(found.difference, math.inf, 1.0)
            if result is not None and result.variance > 0.0:
                measured = Measured(found.difference, result.se, result.df)
                places = 1 if k in rows[i].known else max(1, sum(found.units) - FEWEST + 1)
                p = places * max(verdict.beyond_margin(measured, limit), _order_p(rows[i].values, k, found.units))
                p = min(1.0, p)
            judged[i, k] = (found, p, measured)
        weak = [_weakest(i, row, judged) for i, row in enumerate(rows)]
        if all(place is None for place in weak):
            return judged
        for row, place in zip(rows, weak, strict=True):
            if place is not None:
                row.steps.remove(place)


def _order_p(values: Sequence[float], place: int, counts: tuple[int, int]) -> float:
    """P value of the order of the sessions, whatever their distribution (Mann and Whitney 1947:
    normal approximation, or exact when the sides do not overlap).

    Long series have to pass this test as well. 0 when there are few sessions, or when the gap
    between the sides exceeds the range of the longer side.
    """
    before, after = values[place - counts[0] : place], values[place : place + counts[1]]
    if sum(counts) < _MANY:
        return 0.0
    long, short = (before, after) if len(before) >= len(after) else (after, before)
    gap = max(min(short) - max(long), min(long) - max(short))
    if gap > max(long) - min(long):
        return 0.0
    if gap > 0.0:
        return 2.0 / math.comb(sum(counts), counts[0])
    below = sum((a < b) + 0.5 * (a == b) for a in before for b in after)
    expected = counts[0] * counts[1] / 2.0
    spread = math.sqrt(counts[0] * counts[1] * (sum(counts) + 1) / 12.0)
    return student.two_sided(max(0.0, abs(below - expected) - 0.5) / spread, math.inf)


def _weakest(index: int, row: _Row, judged: _Judged) -> int | None:
    """The step of this row with the largest p value, if that is not significant."""
    worst = max(row.steps, key=lambda k: judged[index, k][1], default=None)
    return worst if worst is not None and judged[index, worst][1] > LEVEL else None


def _histories(rows: Sequence[_Row], judged: _Judged, correlation: float) -> list[History]:
    """Benjamini and Hochberg over all rows. A row without a step counts as a hypothesis that was
    not rejected."""
    places = [(i, k) for i, row in enumerate(rows) for k in row.steps]
    quiet = sum(not row.steps for row in rows)
    adjusted = multiplicity.benjamini_hochberg([*(judged[place][1] for place in places), *([1.0] * quiet)])
    changes: dict[int, list[Change]] = {}
    for (i, k), adjusted_p in zip(places, adjusted, strict=False):
        found, p, measured = judged[i, k]
        if adjusted_p > LEVEL:
            continue
        row = rows[i]
        span = (k - found.units[0], k + found.units[1])
        change = Change(
            k, STEP, found.difference, effect.interval(found.difference, measured.se, measured.df), p, adjusted_p,
            k in row.known, span,
        )  # fmt: skip
        drifts = not _abrupt(row.values[span[0] : span[1]], k - span[0], known=change.known)
        changes.setdefault(i, []).append(replace(change, kind=DRIFT, known=False) if drifts else change)
    return [History(tuple(changes.get(i, ())), correlation, _noise(row, correlation)) for i, row in enumerate(rows)]


def _noise(row: _Row, correlation: float) -> float | None:
    cuts = set(row.steps)
    gaps = [(row.values[k] - row.values[k - 1]) ** 2 for k in range(1, len(row.values)) if k not in cuts]
    r = min(correlation, _MOST_CORRELATED)
    return math.sqrt(math.fsum(gaps) / len(gaps) / 2.0 / (1.0 - r)) if gaps else None


def _abrupt(values: Sequence[float], step: int, *, known: bool) -> bool:
    """Whether the sessions next to the step show it, and a step fits better than a slope.

    Schwarz' criterion decides. The place of a step counts as a parameter unless it was known.
    """
    price = 0.0 if known else 2.0 * math.log(len(values)) / len(values)
    whole = _mean(values[step:]) - _mean(values[:step])
    near = _mean(values[step : step + _NEAR]) - _mean(values[max(0, step - _NEAR) : step])
    return near / whole >= _NEAR_PART and _line_over_step(values, step) > price


def _line_over_step(values: Sequence[float], step: int) -> float:
    """Logarithm of the squared residuals of a straight line over those of the step."""
    left, right = _mean(values[:step]), _mean(values[step:])
    of_step = math.fsum((v - (left if k < step else right)) ** 2 for k, v in enumerate(values))
    middle, centre = (len(values) - 1) / 2.0, _mean(values)
    spread = math.fsum((k - middle) ** 2 for k in range(len(values)))
    slope = math.fsum((k - middle) * v for k, v in enumerate(values)) / spread
    of_line = math.fsum((v - centre - slope * (k - middle)) ** 2 for k, v in enumerate(values))
    return math.log(max(of_line, 1e-300) / max(of_step, 1e-300))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
