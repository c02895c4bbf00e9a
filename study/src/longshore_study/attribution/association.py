"""Finds rules over factor levels (rules.py) and differences in provenance that the changes of a
comparison are associated with. Only a study that sets the factor can show the cause
(confirming_study.py)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.rules import Case, Condition, Rule, find_rules
from longshore_study.base import terminal
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.differences import Difference, differences_in_rows
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.compare.slow_hosts import SlowHost, slow_hosts
from longshore_study.stats import verdict

SCHEMA = 1
DIFFERS = "differs: "
"""The prefix of a factor that says whether a recorded property differs in a row."""


@dataclass(frozen=True)
class Attribution:
    """The rules and the differences in provenance that explain the changes of a comparison."""

    comparison: Comparison
    cases: list[JudgedRow]
    """The rows that were tested."""
    rules: list[Rule]
    residuals: list[float]
    """For each case, the part of its difference that no rule explains."""
    differences: list[Difference]
    slow_hosts: list[SlowHost]

    def rows_of(self, rule: Rule) -> list[JudgedRow]:
        return [self.cases[index] for index in rule.covered]

    @property
    def unexplained(self) -> list[JudgedRow]:
        covered = {index for rule in self.rules for index in rule.covered}
        return [row for index, row in enumerate(self.cases) if is_changed(row) and index not in covered]


def is_changed(row: JudgedRow) -> bool:
    return row.verdict in (verdict.REGRESSED, verdict.IMPROVED)


def attribute(comparison: Comparison) -> Attribution:
    tested = [
        (row, judged) for row in comparison.rows if row.judgement and row.estimate and (judged := row.estimate.judged)
    ]
    rows = [row for row, _ in tested]
    differences = differences_in_rows((comparison.reference, comparison.new), rows)
    cases = [
        Case(_factors(row, index, differences), judged.difference, judged.se, judged.df)
        for index, (row, judged) in enumerate(tested)
    ]
    rules, residuals = find_rules(cases, comparison.margin) if cases else ([], [])
    return Attribution(comparison, rows, rules, residuals, differences, slow_hosts(comparison))


def _factors(row: JudgedRow, index: int, differences: Iterable[Difference]) -> dict[str, Any]:
    factors = {name: value for name, value in row.key.factors.items() if name != "program"}
    return factors | {f"{DIFFERS}{found.name}": index in found.rows for found in differences}


def condition_text(condition: Condition) -> str:
    """The condition as text. Users can pass the text of a condition on a factor to --where."""
    if condition.factor.startswith(DIFFERS):
        return f"{condition.factor.removeprefix(DIFFERS)} {'differs' if condition.levels[0] else 'does not differ'}"
    name = condition.factor
    if condition.is_range and len(condition.levels) > 1:
        return f"{min(condition.levels)} <= {name} and {name} <= {max(condition.levels)}"
    if len(condition.levels) == 1:
        return f"{name} == {_level(condition.levels[0])}"
    return f"{name} in [{', '.join(_level(level) for level in condition.levels)}]"


def _level(level: Any) -> str:
    return f"'{level}'" if isinstance(level, str) else terminal.factor(level)


def rule_text(rule: Rule) -> str:
    return " and ".join(map(condition_text, rule.conditions)) or "every row"


def document(attribution: Attribution, confirm: str | None) -> dict[str, Any]:
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
                "goodness_ratio": metric_ratio(rule.difference, "higher"),
                "interval": metric_ratios(rule.interval, "higher"),
                "p": rule.p,
                "rows": len(rule.covered),
                "changed": sum(map(is_changed, attribution.rows_of(rule))),
            }
            for rule in attribution.rules
        ],
        "unexplained": [
            {"pattern": row.key.pattern, "variant": row.key.variant, "between": row.key.cell, "verdict": row.verdict}
            for row in attribution.unexplained
        ],
        "provenance": [{**found.as_json(), "rows": len(found.rows)} for found in attribution.differences],
        "slow_hosts": [host.as_json() for host in attribution.slow_hosts],
        "confirm": confirm,
    }
