"""With what the changes of a comparison are associated: rules over factor levels (statistics/rules.py), and what
differs in provenance between the two sides. "Associated with" is all that a comparison can say: only a study that sets
the factor itself, in random order and with all else equal, tells the cause (confirm.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study import terminal
from longshore_study.compare import Comparison
from longshore_study.figures import Figure
from longshore_study.launch_properties import is_fraction, values_by_side
from longshore_study.pairing import Row
from longshore_study.statistics import verdict
from longshore_study.statistics.rules import Case, Condition, Rule, find_rules

SCHEMA = 1
DIFFERS = "differs: "
"""Before the name of a property: a factor of rows whose two sides differ in it, where other rows' do not."""


@dataclass(frozen=True)
class Difference:
    """A property that is not the same on both sides."""

    name: str
    reference: tuple[str, ...]
    new: tuple[str, ...]
    rows: int
    """In how many rows it differs."""


@dataclass(frozen=True)
class Attribution:
    comparison: Comparison
    cases: list[Row]
    """The rows that were asked: those with a verdict of their own."""
    factors: list[Mapping[str, Any]]
    rules: list[Rule]
    left: list[float]
    """Of each case, what no rule explains."""
    differences: list[Difference]

    def rows_of(self, rule: Rule) -> list[Row]:
        return [self.cases[place] for place in rule.covered]

    @property
    def unexplained(self) -> list[Row]:
        """Changed rows that no rule covers."""
        covered = {place for rule in self.rules for place in rule.covered}
        changed = (verdict.REGRESSED, verdict.IMPROVED)
        return [row for place, row in enumerate(self.cases) if row.verdict in changed and place not in covered]


def attribute(comparison: Comparison) -> Attribution:
    rows = [row for row in comparison.rows if row.judgement is not None and row.effect is not None]
    found = _differences(comparison, rows)
    factors = [_factors(row, found) for row in rows]
    cases = [_case(row, told, comparison) for row, told in zip(rows, factors, strict=True)]
    rules, left = find_rules(cases, comparison.margin) if cases else ([], [])
    differences = [Difference(name, *values, len(places)) for name, (values, places) in found.items()]
    return Attribution(comparison, rows, list(factors), rules, left, differences)


def _factors(row: Row, found: Mapping[str, tuple[Any, frozenset[int]]]) -> dict[str, Any]:
    told = {name: value for name, value in row.key.factors.items() if name != "program"}
    for name, (_, places) in found.items():
        told[f"{DIFFERS}{name}"] = id(row) in places
    return told


def _case(row: Row, factors: Mapping[str, Any], comparison: Comparison) -> Case:
    assert row.effect is not None  # noqa: S101 - chosen by the caller
    assert row.moderated is not None  # noqa: S101 - what is judged is moderated
    one = verdict.Measured(row.effect.difference, row.moderated.se, row.moderated.df)
    if row.shift_removed:
        one = comparison.shift.remove_from(one)
    return Case(factors, one.difference, one.se, one.df)


_Values = tuple[tuple[str, ...], tuple[str, ...]]


def _differences(comparison: Comparison, rows: Sequence[Row]) -> dict[str, tuple[_Values, frozenset[int]]]:
    """By property: its values on both sides, and the rows whose sides differ in it."""
    sides = [{str(launch.path): launch for launch in side.launches} for side in (comparison.reference, comparison.new)]
    kept: dict[tuple[frozenset[str], frozenset[str]], dict[str, _Values]] = {}
    found: dict[str, tuple[tuple[dict[str, None], dict[str, None]], set[int]]] = {}
    for row in rows:
        paths = (_paths(row.reference), _paths(row.new))
        if paths not in kept:
            one, other = values_by_side(
                [[side[p] for p in sorted(own)] for side, own in zip(sides, paths, strict=True)]
            )
            kept[paths] = _differing(one, other)
        for name, pair in kept[paths].items():
            told, places = found.setdefault(name, (({}, {}), set()))
            for texts, values_of_side in zip(told, pair, strict=True):
                texts.update(dict.fromkeys(values_of_side))
            places.add(id(row))
    return {name: ((tuple(a), tuple(b)), frozenset(places)) for name, ((a, b), places) in found.items()}


def _paths(figures: Iterable[Figure]) -> frozenset[str]:
    return frozenset(figure.launch for figure in figures)


def _differing(reference: Mapping[str, Sequence[str]], new: Mapping[str, Sequence[str]]) -> dict[str, _Values]:
    """Without what is measured anew in each launch, which always differs."""
    found = {}
    for name in dict.fromkeys([*reference, *new]):
        pair = (tuple(reference.get(name, ())), tuple(new.get(name, ())))
        anew = any(len(values) > 1 and all(map(is_fraction, values)) for values in pair)
        if frozenset(pair[0]) != frozenset(pair[1]) and not anew:
            found[name] = pair
    return found


def condition_text(condition: Condition) -> str:
    """As a condition of --where, where it is of a factor."""
    if condition.factor.startswith(DIFFERS):
        return f"{condition.factor.removeprefix(DIFFERS)} {'differs' if condition.levels[0] else 'does not differ'}"
    name = condition.factor
    if condition.least is not None and condition.most is not None:
        if condition.least == condition.most:
            return f"{name} == {condition.levels[0]}"
        return f"{min(condition.levels)} <= {name} and {name} <= {max(condition.levels)}"
    if len(condition.levels) == 1:
        return f"{name} == {_level(condition.levels[0])}"
    return f"{name} in [{', '.join(_level(level) for level in condition.levels)}]"


def _level(level: Any) -> str:
    return f"'{level}'" if isinstance(level, str) else terminal.factor(level)


def rule_text(rule: Rule) -> str:
    return " and ".join(condition_text(one) for one in rule.conditions) or "every row"


def document(attribution: Attribution, confirm: str | None) -> dict[str, Any]:
    """What `attribute --json` prints."""
    from longshore_study.row_document import ratios  # noqa: PLC0415 - for JSON and the report

    return {
        "schema": SCHEMA,
        "reference": attribution.comparison.reference.name,
        "new": attribution.comparison.new.name,
        "margin": attribution.comparison.margin,
        "verdict": attribution.comparison.verdict,
        "rules": [
            {
                "associated_with": rule_text(rule),
                "conditions": [{"factor": c.factor, "levels": list(c.levels)} for c in rule.conditions],
                "goodness_ratio": ratios((rule.difference, rule.difference), 1.0)[0],
                "interval": ratios(rule.interval, 1.0),
                "p": rule.p,
                "rows": len(rule.covered),
                "changed": sum(r.verdict in (verdict.REGRESSED, verdict.IMPROVED) for r in attribution.rows_of(rule)),
            }
            for rule in attribution.rules
        ],
        "unexplained": [
            {"pattern": row.key.pattern, "variant": row.key.variant, "between": row.key.cell, "verdict": row.verdict}
            for row in attribution.unexplained
        ],
        "provenance": [
            {"property": d.name, "reference": list(d.reference), "new": list(d.new), "rows": d.rows}
            for d in attribution.differences
        ],
        "confirm": confirm,
    }
