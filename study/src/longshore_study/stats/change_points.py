"""Finds when metrics changed: the steps in series of session means, for many rows at once.

Candidates are the steps of an optimal partition (Jackson et al. 2005). Each is tested against the
margin, with noise from differences of neighbouring sessions, which may be correlated (Chakar,
Lebarbier, Levy-Leduc, Robin 2017). For formulas and reasons, see docs/explanation/statistics.md,
"When a figure changed"."""

import itertools
import math
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean, linear_regression, median

from longshore_study.stats import moderated, multiplicity, student, verdict
from longshore_study.stats.effect import Effect
from longshore_study.stats.verdict import LEVEL, Measured

MIN_SESSIONS_PER_SIDE = 2  # on each side of a step, since a single session may be an outlier
MIN_SESSIONS = 2 * MIN_SESSIONS_PER_SIDE
STEP, DRIFT = "step", "drift"
_PENALTY = 3.0  # per step, times the noise variance and the logarithm of the number of sessions
_MAX_STEPS = 8
_MAX_CORRELATION = 0.97
_ASSUMED_CORRELATION = 0.4
_KEPT_PART = 0.6  # of the squared differences; the largest 40 % may be steps
_KEPT_MEAN = 0.213  # mean of the smallest 60 % of squared standard normal variates
_MIN_SESSIONS_FOR_ORDER_TEST = 8  # on both sides of a step together
_MIN_SESSIONS_FOR_CORRELATION = 12  # shorter series use the assumed correlation
_CAUTION = 2.0  # the number of standard errors added to the estimated correlation
_NEAR = 4  # sessions on each side of a step whose means must show at least _NEAR_PART of the step
_NEAR_PART = 0.6
_EFFICIENCY = 2.0 / 3.0  # of a variance from differences, relative to a known mean (Rice 1984)


@dataclass(frozen=True)
class ChangePoint:
    """A significant change of a metric between two neighbouring sessions of a series."""

    at: int
    """The index of the first session after the change."""
    kind: str
    """STEP or DRIFT."""
    difference: float
    """Mean after the change minus mean before, of logarithms. A positive difference is better."""
    interval: tuple[float, float]
    """The 95 % confidence interval of the difference."""
    p: float
    """P value that the change is within the margin, corrected for the possible positions."""
    adjusted_p: float
    """`p`, adjusted for the number of rows."""
    known: bool
    """Whether an event marked this position. Otherwise a search over all positions found it."""


@dataclass(frozen=True)
class History:
    """What `find_changes` found in the series of one row."""

    changes: tuple[ChangePoint, ...]
    correlation: float
    """The correlation of neighbouring sessions, the same for all rows."""
    noise: float | None
    """Standard deviation of the logarithm of a session's mean. None if there is no estimate."""


@dataclass
class _Row:
    """The series of a row during the search, with the steps that are still candidates."""

    values: Sequence[float]
    known: frozenset[int]
    """Positions of events."""
    steps: list[int]

    def pieces(self) -> list[tuple[int, int]]:
        """The ranges of sessions between the steps."""
        return list(itertools.pairwise([0, *sorted(self.steps), len(self.values)]))

    def differences_without_steps(self) -> list[tuple[Hashable, float]]:
        """The differences of neighbouring sessions without a step between them, each with the index
        of the second session. They have the variance of a session."""
        sessions = range(1, len(self.values))
        return [(k, (self.values[k] - self.values[k - 1]) / math.sqrt(2.0)) for k in sessions if k not in self.steps]


_Judged = dict[tuple[int, int], tuple[Effect, float, Measured]]
"""By index of the row and position: effect, corrected p value, and estimate of a step."""


def find_changes(
    series: Sequence[Sequence[float]], margin: float, events: Sequence[Collection[int]] | None = None
) -> list[History]:
    """The steps and drifts of each row that are significantly larger than the margin. P values are
    adjusted for the number of rows.

    `events` has, for each row, the indices of the first sessions after known events. A step at such
    a position is tested first, and without the correction for the number of positions.
    """
    limit = math.log1p(margin)
    rows = [
        _Row(
            values, frozenset(k for k in known if MIN_SESSIONS_PER_SIDE <= k <= len(values) - MIN_SESSIONS_PER_SIDE), []
        )
        for values, known in zip(series, events or [()] * len(series), strict=True)
    ]
    correlation = pooled_correlation(series)
    # Known events are tested before the search for steps. Otherwise an event without a change would
    # divide the series that is searched.
    for row in rows:
        row.steps = _spaced(row.known)
    _eliminate(rows, correlation, limit)
    for row in rows:
        row.steps = _candidates(row, correlation)
    judged = _eliminate(rows, correlation, limit)
    return _histories(rows, judged, correlation)


def pooled_correlation(series: Sequence[Sequence[float]]) -> float:
    """The correlation of neighbouring sessions, pooled over the rows. In short series it is shrunk
    towards an assumed correlation, or replaced by it."""
    over_one, over_two = 0.0, 0.0
    for values in series:
        slope = median(b - a for a, b in itertools.pairwise(values)) if len(values) > 1 else 0.0
        singles = _lowest([(b - a - slope) ** 2 for a, b in itertools.pairwise(values)])
        doubles = _lowest([(b - a - 2.0 * slope) ** 2 for a, b in zip(values, values[2:], strict=False)])
        if singles and doubles and sum(singles) > 0.0:
            scale = sum(singles) / len(singles)
            over_one += len(values)
            over_two += len(values) * (sum(doubles) / len(doubles)) / scale
    length = max((len(values) for values in series), default=0)
    if over_one == 0.0 or length < _MIN_SESSIONS_FOR_CORRELATION:
        return _ASSUMED_CORRELATION
    estimate = min(1.0, max(0.0, over_two / over_one - 1.0))
    # Underestimating the correlation turns slow variation into steps.
    shortest = _MIN_SESSIONS_FOR_CORRELATION
    weight = shortest if estimate < _ASSUMED_CORRELATION else shortest * shortest / length
    error = math.sqrt((1.0 - estimate * estimate) / sum(map(len, series)))
    careful = estimate * (1.0 + _CAUTION * error)
    return min(1.0, (length * careful + weight * _ASSUMED_CORRELATION) / (length + weight))


def _lowest(squares: list[float]) -> list[float]:
    return sorted(squares)[: max(1, math.ceil(_KEPT_PART * len(squares)))] if squares else []


def _spaced(positions: Collection[int]) -> list[int]:
    """The positions with enough sessions between them; of two that are too close, the later."""
    kept: list[int] = []
    for position in sorted(positions, reverse=True):
        if not kept or kept[-1] - position >= MIN_SESSIONS_PER_SIDE:
            kept.append(position)
    return sorted(kept)


def _candidates(row: _Row, correlation: float) -> list[int]:
    """The steps of the row, and the steps of an optimal partition between them."""
    squares = _lowest([(b - a) ** 2 for a, b in itertools.pairwise(row.values)])
    variance = (fmean(squares) / 2.0 / _KEPT_MEAN if squares else 0.0) or 1e-12
    steps = list(row.steps)
    penalty = _PENALTY * math.log(len(row.values)) * variance * _inflation(correlation, len(row.values))
    for first, last in row.pieces():
        steps += [first + k for k in _partition(row.values[first:last], penalty)]
    if len(steps) > _MAX_STEPS:
        steps = sorted(steps, key=lambda k: abs(row.values[k] - row.values[k - 1]))[-_MAX_STEPS:]
    return sorted(steps)


def _partition(values: Sequence[float], penalty: float) -> list[int]:
    """The cuts with the least squared deviations from the means, plus `penalty` per cut."""
    count = len(values)
    if count < MIN_SESSIONS:
        return []
    sums, squares = [0.0], [0.0]
    for value in values:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    best = [math.inf] * (count + 1)
    best[0] = -penalty
    last_cut = [0] * (count + 1)
    for end in range(MIN_SESSIONS_PER_SIDE, count + 1):
        for start in range(end - MIN_SESSIONS_PER_SIDE + 1):
            if math.isinf(best[start]):
                continue
            total = sums[end] - sums[start]
            cost = best[start] + penalty + squares[end] - squares[start] - total * total / (end - start)
            if cost < best[end]:
                best[end], last_cut[end] = cost, start
    cuts = []
    cut = last_cut[count]
    while cut > 0:
        cuts.append(cut)
        cut = last_cut[cut]
    return cuts


def _inflation(correlation: float, count: int) -> float:
    """Variance of the mean of `count` correlated sessions, relative to independent sessions."""
    r = min(correlation, _MAX_CORRELATION)
    if r == 0.0 or count == 1:
        return 1.0
    return (1.0 + r) / (1.0 - r) - 2.0 * r * (1.0 - r**count) / (count * (1.0 - r) ** 2)


def _effect(row: _Row, position: int, correlation: float) -> Effect:
    pieces = row.pieces()
    left = next(piece for piece in pieces if piece[1] == position)
    right = next(piece for piece in pieces if piece[0] == position)
    counts = (left[1] - left[0], right[1] - right[0])
    difference = fmean(row.values[right[0] : right[1]]) - fmean(row.values[left[0] : left[1]])
    return _with_noise(row, correlation, difference, counts)


def _with_noise(row: _Row, correlation: float, difference: float, counts: tuple[int, int]) -> Effect:
    """The effect of a difference of means over `counts` sessions. The noise is estimated from
    neighbouring sessions of the row without a step between them."""
    differences = row.differences_without_steps()
    r = min(correlation, _MAX_CORRELATION)
    df = max(1, round(_EFFICIENCY * len(differences) * math.sqrt((1.0 - r) / (1.0 + r))))
    total = math.fsum(d * d for _, d in differences)
    variance = _noise_variance(row, correlation)
    scale = sum(_inflation(correlation, n) / n for n in counts)
    # Scale the residuals so that their squares add up to variance * df, as moderation requires.
    scaling = math.sqrt(variance * df / total) if variance and total > 0.0 else 1.0
    residuals = tuple((k, d * scaling) for k, d in differences)
    return Effect("history", difference, variance, df if variance is not None else 0, scale, counts, residuals)


def _eliminate(rows: Sequence[_Row], correlation: float, limit: float) -> _Judged:
    """Removes the weakest step of each row until all pass. Returns the tests of the others."""
    while True:
        tested = [(i, k) for i, row in enumerate(rows) for k in row.steps]
        effects = [_effect(rows[i], k, correlation) for i, k in tested]
        # Rows without a step also contribute to the noise estimate.
        quiet = [_with_noise(row, correlation, 0.0, (1, 1)) for row in rows if not row.steps]
        judged: _Judged = {}
        for (i, k), step, result in zip(tested, effects, moderated.moderate([*effects, *quiet]), strict=False):
            p, measured = 1.0, Measured(step.difference, math.inf, 1.0)
            if result is not None and result.variance > 0.0:
                measured = Measured(step.difference, result.se, result.df)
                positions = 1 if k in rows[i].known else max(1, sum(step.units) - MIN_SESSIONS + 1)
                p = positions * max(verdict.beyond_margin(measured, limit), _order_p(rows[i].values, k, step.units))
                p = min(1.0, p)
            judged[i, k] = (step, p, measured)
        weakest = [_weakest(i, row, judged) for i, row in enumerate(rows)]
        if all(position is None for position in weakest):
            return judged
        for row, position in zip(rows, weakest, strict=True):
            if position is not None:
                row.steps.remove(position)


def _order_p(values: Sequence[float], position: int, counts: tuple[int, int]) -> float:
    """P value of the test of Mann and Whitney (1947) that sessions before and after the step have
    the same distribution: exact if the two sides do not overlap, else a normal approximation. 0 if
    there are few sessions, or if the gap between the sides exceeds the range of the longer side."""
    if sum(counts) < _MIN_SESSIONS_FOR_ORDER_TEST:
        return 0.0
    before, after = values[position - counts[0] : position], values[position : position + counts[1]]
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
    """The step of this row with the largest p value. None if that step is significant."""
    weakest = max(row.steps, key=lambda k: judged[index, k][1], default=None)
    return weakest if weakest is not None and judged[index, weakest][1] > LEVEL else None


def _histories(rows: Sequence[_Row], judged: _Judged, correlation: float) -> list[History]:
    """The significant changes, corrected over all rows; a row without a step has the p value 1."""
    steps = [(i, k) for i, row in enumerate(rows) for k in row.steps]
    quiet = sum(not row.steps for row in rows)
    adjusted_ps = multiplicity.benjamini_hochberg([*(judged[step][1] for step in steps), *([1.0] * quiet)])
    changes: dict[int, list[ChangePoint]] = {}
    for (i, k), adjusted_p in zip(steps, adjusted_ps, strict=False):
        effect_of_step, p, measured = judged[i, k]
        if adjusted_p > LEVEL:
            continue
        row = rows[i]
        before, after = effect_of_step.units
        known = k in row.known
        abrupt = _abrupt(row.values[k - before : k + after], before, known=known)
        kind = STEP if abrupt else DRIFT
        change = ChangePoint(k, kind, measured.difference, measured.interval, p, adjusted_p, known=known and abrupt)
        changes.setdefault(i, []).append(change)
    noises = [None if (variance := _noise_variance(row, correlation)) is None else math.sqrt(variance) for row in rows]
    return [History(tuple(changes.get(i, ())), correlation, noise) for i, noise in enumerate(noises)]


def _noise_variance(row: _Row, correlation: float) -> float | None:
    differences = row.differences_without_steps()
    if not differences:
        return None
    return fmean(d * d for _, d in differences) / (1.0 - min(correlation, _MAX_CORRELATION))


def _abrupt(values: Sequence[float], step: int, *, known: bool) -> bool:
    """Whether the sessions next to the step show the step, and a step fits better than a slope by
    Schwarz' criterion. The position of the step counts as a parameter unless it was known."""
    penalty = 0.0 if known else 2.0 * math.log(len(values)) / len(values)
    whole = fmean(values[step:]) - fmean(values[:step])
    near = fmean(values[step : step + _NEAR]) - fmean(values[max(0, step - _NEAR) : step])
    return near / whole >= _NEAR_PART and _line_over_step(values, step) > penalty


def _line_over_step(values: Sequence[float], step: int) -> float:
    """Logarithm of the squared residuals of a straight line over those of the step."""
    left, right = fmean(values[:step]), fmean(values[step:])
    of_step = math.fsum((v - (left if k < step else right)) ** 2 for k, v in enumerate(values))
    slope, begin = linear_regression(range(len(values)), values)
    of_line = math.fsum((v - begin - slope * k) ** 2 for k, v in enumerate(values))
    # Residuals of 0 have no logarithm.
    return math.log(max(of_line, 1e-300) / max(of_step, 1e-300))
