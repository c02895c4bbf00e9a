"""Finds the rules that a change is associated with, by a beam search over conjunctions of
conditions on factors, with a price for each condition (Foster and George 1994). For formulas and
reasons, see docs/explanation/statistics.md, "Associated factors"."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from longshore_study.base.json_values import canonical, number_in
from longshore_study.stats import effect, student
from longshore_study.stats.verdict import LEVEL

MAX_RULES = 3
MAX_CONDITIONS = 3
_BEAM_WIDTH = 8
_SHARED = 0.1
"""The assumed share of the variance that all cases have in common, so that many err as one."""


@dataclass(frozen=True)
class Case:
    """A row of a comparison."""

    factors: Mapping[str, Any]
    difference: float
    """Difference of logarithms; positive is better."""
    se: float
    df: float


@dataclass(frozen=True)
class Condition:
    """The factor has one of these levels."""

    factor: str
    levels: tuple[Any, ...]
    is_range: bool = False


@dataclass(frozen=True)
class Rule:
    """Conditions on factors, and the mean difference of the cases that meet them all."""

    conditions: tuple[Condition, ...]
    difference: float
    interval: tuple[float, float]
    p: float
    """P value that the mean is within the margin, corrected for the choice of the rule."""
    covered: tuple[int, ...]
    """Indices of the cases that meet the conditions."""


@dataclass(frozen=True)
class _Candidate:
    conditions: tuple[tuple[Condition, float], ...]
    """Each condition with its price: the logarithm of how many it was chosen from."""
    covered: frozenset[int]
    worth: float = 0.0

    @property
    def price(self) -> float:
        return math.fsum(price for _, price in self.conditions)


def find_rules(cases: Sequence[Case], margin: float) -> tuple[list[Rule], list[float]]:
    """At most three rules, the strongest first, and what they leave of each case's difference."""
    limit = math.log1p(margin)
    residuals = [case.difference for case in cases]
    rules: list[Rule] = []
    while len(rules) < MAX_RULES:
        best = _search(cases, residuals, limit)
        if best is None:
            break
        rule = _rule(best, cases, residuals, limit)
        if rule.p > LEVEL or abs(rule.difference) <= limit:
            break
        rules.append(rule)
        for index in rule.covered:
            residuals[index] -= rule.difference
    return rules, residuals


def _search(cases: Sequence[Case], residuals: Sequence[float], limit: float) -> _Candidate | None:
    everything = _valued(_Candidate((), frozenset(range(len(cases)))), cases, residuals, limit)
    best, beam = everything, [everything]
    conditions = _conditions(cases, residuals)
    for _ in range(MAX_CONDITIONS):
        grown: dict[frozenset[int], _Candidate] = {}
        for candidate, (condition, price, members) in itertools.product(beam, conditions):
            covered = candidate.covered & members
            if not covered or covered == candidate.covered:
                continue
            if condition.factor in {chosen.factor for chosen, _ in candidate.conditions}:
                continue
            longer = _Candidate((*candidate.conditions, (condition, price)), covered)
            known = grown.get(covered)
            if known is None or longer.price < known.price:
                grown[covered] = longer
        valued = [_valued(candidate, cases, residuals, limit) for candidate in grown.values()]
        beam = sorted(valued, key=lambda candidate: candidate.worth, reverse=True)[:_BEAM_WIDTH]
        if not beam:
            break
        best = max(best, beam[0], key=lambda candidate: candidate.worth)
    return best if best.worth > 0.0 else None


def _valued(candidate: _Candidate, cases: Sequence[Case], residuals: Sequence[float], limit: float) -> _Candidate:
    """The candidate with its worth: gain minus price. With a gain from the margin, not from zero, a
    rule for some cases with favourable noise would win over the rule for all affected cases."""
    mean, se, _ = _mean(candidate.covered, cases, residuals)
    gain = 0.0 if abs(mean) <= limit else math.inf if se == 0.0 else (mean / se) ** 2
    return _Candidate(candidate.conditions, candidate.covered, gain - 2.0 * candidate.price)


def _mean(covered: Iterable[int], cases: Sequence[Case], residuals: Sequence[float]) -> tuple[float, float, float]:
    """The weighted mean, its standard error, and its degrees of freedom."""
    indices = list(covered)
    min_se = min(cases[k].se for k in indices)
    weights = [1.0 / max(cases[k].se, 1e-9 + 0.1 * min_se) ** 2 for k in indices]
    total = math.fsum(weights)
    mean = math.fsum(w * residuals[k] for w, k in zip(weights, indices, strict=True)) / total
    independent_variance = 1.0 / total
    mean_se = math.fsum(w * cases[k].se for w, k in zip(weights, indices, strict=True)) / total
    variance = (1.0 - _SHARED) * independent_variance + _SHARED * mean_se**2
    return mean, math.sqrt(variance), min(cases[k].df for k in indices)


def _rule(best: _Candidate, cases: Sequence[Case], residuals: Sequence[float], limit: float) -> Rule:
    mean, se, df = _mean(best.covered, cases, residuals)
    p = 2.0 * student.upper_tail((abs(mean) - limit) / se, df) if se > 0.0 else 0.0
    # A p value can be too small for floating point, and 0 has no logarithm.
    log_p = math.log(max(p, 1e-300)) + best.price
    conditions = sorted((condition for condition, _ in best.conditions), key=lambda condition: condition.factor)
    corrected = min(1.0, math.exp(min(0.0, log_p)))
    return Rule(tuple(conditions), mean, effect.interval(mean, se, df), corrected, tuple(sorted(best.covered)))


def _conditions(cases: Sequence[Case], residuals: Sequence[float]) -> list[tuple[Condition, float, frozenset[int]]]:
    """All conditions on single factors, with the price of each and the cases that meet it."""
    members: dict[str, dict[str, tuple[Any, list[int]]]] = defaultdict(dict)
    for index, case in enumerate(cases):
        for name, level in case.factors.items():
            members[name].setdefault(canonical({"": level}), (level, []))[1].append(index)
    varying = {
        name: list(levels.values())
        for name, levels in members.items()
        if len(levels) > 1 or sum(len(indices) for _, indices in levels.values()) < len(cases)
    }
    found = []
    for name, levels in varying.items():
        numbers = [number_in(level) for level, _ in levels]
        ordered = all(number is not None for number in numbers)
        for chosen, count in _ranges(levels) if ordered else _sets(levels, residuals):
            covered = frozenset(itertools.chain.from_iterable(indices for _, indices in chosen))
            if len(covered) == len(cases):
                continue
            values = tuple(level for level, _ in chosen)
            condition = Condition(name, values, is_range=ordered and len(levels) > 2)
            found.append((condition, math.log(len(varying)) + math.log(count), covered))
    return found


_Levels = list[tuple[Any, list[int]]]
"""Levels of a factor, each with the indices of its cases."""


def _ranges(levels: _Levels) -> list[tuple[_Levels, int]]:
    """The ranges of neighbouring levels of an ordered factor, except the range of all levels. Each
    range comes with the number of ranges from which it is chosen."""
    ordered = sorted(levels, key=lambda level: float(level[0]))
    ends = [(a, b) for a in range(len(ordered)) for b in range(a + 1, len(ordered) + 1) if b - a < len(ordered)]
    return [(ordered[a:b], len(ends)) for a, b in ends] or [(ordered, 1)]


def _sets(levels: _Levels, residuals: Sequence[float]) -> list[tuple[_Levels, int]]:
    """The candidate sets of levels of an unordered factor: each single level, and for each size the
    two sets with the lowest and the highest mean. Other sets cannot win (Fisher 1958). Each set
    comes with the number of all sets of its size."""
    by_mean = sorted(levels, key=lambda level: fmean(residuals[k] for k in level[1]))
    sets: list[tuple[_Levels, int]] = [([level], len(levels)) for level in levels]
    for size in range(2, len(levels)):
        count = math.comb(len(levels), size)
        sets += [(by_mean[:size], count), (by_mean[-size:], count)]
    return sets
