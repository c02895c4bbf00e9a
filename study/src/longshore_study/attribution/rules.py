"""Finds the rules that a change is associated with: a beam search over conjunctions of factor
levels.

Each case (a row of a comparison) has factor levels, a difference and its standard error. A rule is
a conjunction of conditions. It explains the mean difference of the cases that it covers. The gain
of a rule is this mean in squared standard errors. Its price is twice the logarithm of the number of
conditions that it was chosen from (a risk inflation penalty: Foster and George 1994). The best rule
counts if its mean is beyond the margin even at this price. Then its mean is subtracted, and the
search starts again, for at most three rules.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.base.json_values import canonical, number_in
from longshore_study.stats import effect, student
from longshore_study.stats.verdict import LEVEL

MOST_RULES = 3
MOST_CONDITIONS = 3
_BEAM = 8
_SHARED = 0.1  # part of the variance that all cases are assumed to share, so that many cases are not endless evidence


@dataclass(frozen=True)
class Case:
    factors: Mapping[str, Any]
    difference: float
    """Of logarithms; positive is better."""
    se: float
    df: float


@dataclass(frozen=True)
class Condition:
    """The factor has one of these levels. For numbers, `least` and `most` give their range."""

    factor: str
    levels: tuple[Any, ...]
    least: float | None = None
    most: float | None = None

    def holds(self, factors: Mapping[str, Any]) -> bool:
        return self.factor in factors and factors[self.factor] in self.levels


@dataclass(frozen=True)
class Rule:
    conditions: tuple[Condition, ...]
    difference: float
    interval: tuple[float, float]
    p: float
    """P value of the hypothesis that the mean is within the margin, corrected for all rules with as
    many conditions."""
    covered: tuple[int, ...]
    """Indices of the covered cases."""

    def holds(self, factors: Mapping[str, Any]) -> bool:
        return all(condition.holds(factors) for condition in self.conditions)


@dataclass(frozen=True)
class _Candidate:
    conditions: tuple[tuple[Condition, float], ...]
    """Each with its price: the logarithm of the number of conditions it was chosen from."""
    covered: frozenset[int]
    worth: float = 0.0

    @property
    def price(self) -> float:
        return math.fsum(price for _, price in self.conditions)


def find_rules(cases: Sequence[Case], margin: float) -> tuple[list[Rule], list[float]]:
    """At most three rules, the strongest first, and the unexplained part of each difference."""
    limit = math.log1p(margin)
    left = [case.difference for case in cases]
    rules: list[Rule] = []
    while len(rules) < MOST_RULES:
        best = _search(cases, left, limit)
        if best is None:
            break
        rule = _rule(best, cases, left, limit)
        if rule.p > LEVEL or abs(rule.difference) <= limit:
            break
        rules.append(rule)
        for place in rule.covered:
            left[place] -= rule.difference
    return rules, left


def _search(cases: Sequence[Case], left: Sequence[float], limit: float) -> _Candidate | None:
    everything = _valued(_Candidate((), frozenset(range(len(cases)))), cases, left, limit)
    best, beam = everything, [everything]
    conditions = _conditions(cases, left)
    for _ in range(MOST_CONDITIONS):
        grown: dict[frozenset[int], _Candidate] = {}
        for candidate, (condition, price, members) in itertools.product(beam, conditions):
            covered = candidate.covered & members
            if not covered or covered == candidate.covered:
                continue
            if condition.factor in {one.factor for one, _ in candidate.conditions}:
                continue
            longer = _Candidate((*candidate.conditions, (condition, price)), covered)
            known = grown.get(covered)
            if known is None or longer.price < known.price:
                grown[covered] = longer
        valued = [_valued(one, cases, left, limit) for one in grown.values()]
        beam = sorted(valued, key=lambda one: one.worth, reverse=True)[:_BEAM]
        if not beam:
            break
        best = max(best, beam[0], key=lambda one: one.worth)
    return best if best.worth > 0.0 else None


def _valued(candidate: _Candidate, cases: Sequence[Case], left: Sequence[float], limit: float) -> _Candidate:
    """The candidate with its worth. The gain is measured from zero: measured from the margin, a
    part with favourable noise would beat the whole."""
    mean, se, _ = _mean(candidate.covered, cases, left)
    gain = 0.0 if abs(mean) <= limit else math.inf if se == 0.0 else (mean / se) ** 2
    return _Candidate(candidate.conditions, candidate.covered, gain - 2.0 * candidate.price)


def _mean(covered: Iterable[int], cases: Sequence[Case], left: Sequence[float]) -> tuple[float, float, float]:
    """The weighted mean, its standard error, and its degrees of freedom."""
    places = list(covered)
    least = min(cases[k].se for k in places)
    weights = [1.0 / max(cases[k].se, 1e-9 + 0.1 * least) ** 2 for k in places]
    total = math.fsum(weights)
    mean = math.fsum(w * left[k] for w, k in zip(weights, places, strict=True)) / total
    alone = 1.0 / total
    shared = math.fsum(w * cases[k].se for w, k in zip(weights, places, strict=True)) / total
    variance = (1.0 - _SHARED) * alone + _SHARED * shared**2
    return mean, math.sqrt(variance), min(cases[k].df for k in places)


def _rule(best: _Candidate, cases: Sequence[Case], left: Sequence[float], limit: float) -> Rule:
    mean, se, df = _mean(best.covered, cases, left)
    p = 2.0 * student.upper_tail((abs(mean) - limit) / se, df) if se > 0.0 else 0.0
    log_p = math.log(max(p, 1e-300)) + best.price
    conditions = tuple(sorted((one for one, _ in best.conditions), key=lambda one: one.factor))
    corrected = min(1.0, math.exp(min(0.0, log_p)))
    return Rule(conditions, mean, effect.interval(mean, se, df), corrected, tuple(sorted(best.covered)))


def _conditions(cases: Sequence[Case], left: Sequence[float]) -> list[tuple[Condition, float, frozenset[int]]]:
    """All conditions on single factors, each with its price and the cases that meet it."""
    members: dict[str, dict[str, tuple[Any, list[int]]]] = defaultdict(dict)
    for place, case in enumerate(cases):
        for name, level in case.factors.items():
            members[name].setdefault(canonical({"": level}), (level, []))[1].append(place)
    varying = {
        name: list(levels.values())
        for name, levels in members.items()
        if len(levels) > 1 or sum(len(places) for _, places in levels.values()) < len(cases)
    }
    found = []
    for name, levels in varying.items():
        numbers = [number_in(level) for level, _ in levels]
        ordered = all(number is not None for number in numbers)
        runs = _intervals(levels) if ordered else _sets(levels, left)
        for chosen, count in runs:
            covered = frozenset(itertools.chain.from_iterable(places for _, places in chosen))
            if len(covered) == len(cases):
                continue
            values = tuple(level for level, _ in chosen)
            condition = Condition(name, values)
            if ordered and len(levels) > 2:
                condition = Condition(name, values, float(min(values)), float(max(values)))
            found.append((condition, math.log(len(varying)) + math.log(count), covered))
    return found


_Levels = list[tuple[Any, list[int]]]


def _intervals(levels: _Levels) -> list[tuple[_Levels, int]]:
    """For an ordered factor: all ranges of neighbouring levels except the whole."""
    ordered = sorted(levels, key=lambda one: float(one[0]))
    runs = [ordered[a:b] for a in range(len(ordered)) for b in range(a + 1, len(ordered) + 1) if b - a < len(ordered)]
    return [(run, max(1, len(runs))) for run in runs or [ordered]]


def _sets(levels: _Levels, left: Sequence[float]) -> list[tuple[_Levels, int]]:
    """For an unordered factor: each level, and the best sets of each size. Sets with extreme means
    suffice (Fisher 1958). The price counts all sets of the size."""
    by_mean = sorted(levels, key=lambda one: math.fsum(left[k] for k in one[1]) / len(one[1]))
    found: list[tuple[_Levels, int]] = [([one], len(levels)) for one in levels]
    for size in range(2, len(levels)):
        count = math.comb(len(levels), size)
        found += [(by_mean[:size], count), (by_mean[-size:], count)]
    return found
