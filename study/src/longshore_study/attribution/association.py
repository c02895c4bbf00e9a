"""Finds what the changes of a comparison are associated with: rules over factor levels (rules.py),
and differences in provenance between the two sides.

A comparison only shows association. The cause needs a study that sets the factor itself, in random
order and with all else equal (confirming_study.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.rules import Case, Condition, Rule, find_rules
from longshore_study.base import terminal
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.differences import DifferenceInRows, differences_in_rows
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.stats import verdict

SCHEMA = 1
DIFFERS = "differs: "
"""Prefix of a property that differs between the two sides of some rows but not of others. It serves
as a factor of the rows."""


@dataclass(frozen=True)
class Attribution:
    comparison: Comparison
    cases: list[JudgedRow]
    """The rows with a verdict of their own."""
    factors: list[Mapping[str, Any]]
    rules: list[Rule]
    left: list[float]
    """For each case, the part of its difference that no rule explains."""
    differences: list[DifferenceInRows]
    """The differences in provenance between the sides, each with its rows."""

    def rows_of(self, rule: Rule) -> list[JudgedRow]:
        return [self.cases[place] for place in rule.covered]

    @property
    def unexplained(self) -> list[JudgedRow]:
        """Changed rows that no rule covers."""
        covered = {place for rule in self.rules for place in rule.covered}
        changed = (verdict.REGRESSED, verdict.IMPROVED)
        return [row for place, row in enumerate(self.cases) if row.verdict in changed and place not in covered]


def attribute(comparison: Comparison) -> Attribution:
    rows = [row for row in comparison.rows if row.judgement is not None and row.effect is not None]
    found = differences_in_rows((comparison.reference, comparison.new), rows)
    factors = [_factors(row, place, found) for place, row in enumerate(rows)]
    cases = [_case(row, levels) for row, levels in zip(rows, factors, strict=True)]
    rules, left = find_rules(cases, comparison.margin) if cases else ([], [])
    return Attribution(comparison, rows, list(factors), rules, left, found)


def _factors(row: JudgedRow, place: int, found: Iterable[DifferenceInRows]) -> dict[str, Any]:
    factors = {name: value for name, value in row.key.factors.items() if name != "program"}
    return factors | {f"{DIFFERS}{one.difference.name}": place in one.rows for one in found}


def _case(row: JudgedRow, factors: Mapping[str, Any]) -> Case:
    assert row.estimate is not None  # noqa: S101 - the caller selected such rows
    one = row.estimate.judged
    assert one is not None  # noqa: S101 - rows with a judgement have it
    return Case(factors, one.difference, one.se, one.df)


def condition_text(condition: Condition) -> str:
    """The condition as text. A condition of a factor can be used with --where."""
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
    """The document of `attribute --json`."""
    from longshore_study.compare.estimate import ratio, ratios  # noqa: PLC0415 - for JSON and the report

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
                "goodness_ratio": ratio(rule.difference, "higher"),
                "interval": ratios(rule.interval, "higher"),
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
        "provenance": [{**one.difference.as_json(), "rows": len(one.rows)} for one in attribution.differences],
        "confirm": confirm,
    }
