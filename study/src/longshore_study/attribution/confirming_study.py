"""Designs a study that tests whether a rule describes the cause of a change.

The study measures the suspected levels and other levels in the same launches or alternately, in
random order, in several sessions of both states of the machine. If environment variables differ
between the sides, the study also measures both settings of the variables in both states."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.attribution.association import DIFFERS, Attribution, rule_text
from longshore_study.attribution.confirming_study_file import Draft, study_text
from longshore_study.attribution.rules import Rule
from longshore_study.attribution.suspected_variables import suspected_variables
from longshore_study.base.errors import LongshoreError
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.patterns import PATTERNS
from longshore_study.planning.power_analysis import OTHER_SESSIONS, PowerAnalysis, spread_of
from longshore_study.study_file.reader import StudyFileError, loads

_MAX_AFFECTED = 3  # affected rows whose levels the study measures
_MAX_BESIDE = 2  # other levels that the study measures for each suspected factor


def confirming_study(attribution: Attribution, rule: Rule, name: str) -> str:
    """The smallest study file that tests this rule. Raises LongshoreError if there is none."""
    suspected = {c.factor: c for c in rule.conditions if not c.factor.startswith(DIFFERS) and c.factor != "pattern"}
    sides = (attribution.comparison.reference, attribution.comparison.new)
    variables = suspected_variables(sides, attribution.rows_of(rule))
    if not suspected and not variables.new:
        raise LongshoreError(
            f"no study can set the conditions of the change ({rule_text(rule)}): they name no factor of a pattern, "
            "and no variable of the environment differs"
        )
    covered = sorted(attribution.rows_of(rule), key=lambda row: -abs(row.estimate.difference) if row.estimate else 0.0)
    program = next((row.key.pattern for row in covered if row.key.pattern in PATTERNS), None)
    if program is None:
        raise LongshoreError(
            f"'{covered[0].key.pattern}' is not a pattern of longshore-bench, so no study can measure the rule"
        )
    affected = [row for row in covered if row.key.pattern == program][:_MAX_AFFECTED]
    beside = _beside(attribution, rule, affected, suspected)
    if not beside and not variables.new:
        raise LongshoreError(f"nothing beside {rule_text(rule)} was measured, so there is nothing to compare it with")
    levels = _levels(affected, beside, suspected if beside else {})
    return _complete(Draft(attribution, rule, name, program, levels, tuple(suspected) if beside else (), variables))


def _beside(
    attribution: Attribution, rule: Rule, affected: Sequence[JudgedRow], suspected: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """The levels of rows that differ in a suspected factor alone, the least changed first."""
    changes: dict[str, dict[str, tuple[float, Any]]] = {}
    covered = set(rule.covered)
    for index, row in enumerate(attribution.cases):
        if index in covered or row.effect is None:
            continue
        factors = row.key.factors
        for name in suspected:
            if name in factors and any(_alike(factors, other.key.factors, name) for other in affected):
                change = (abs(attribution.residuals[index]), factors[name])
                levels = changes.setdefault(name, {})
                key = json.dumps(factors[name])
                levels[key] = min(change, levels.get(key, change), key=lambda pair: pair[0])
    return {
        name: [level for _, level in sorted(levels.values(), key=lambda change: change[0])[:_MAX_BESIDE]]
        for name, levels in changes.items()
    }


def _alike(first: Mapping[str, Any], second: Mapping[str, Any], except_factor: str) -> bool:
    return first["pattern"] == second["pattern"] and all(
        first.get(name) == second.get(name) for name in {*first, *second} if name not in (except_factor, "program")
    )


def _levels(
    affected: Sequence[JudgedRow], beside: Mapping[str, list[Any]], suspected: Mapping[str, Any]
) -> dict[str, tuple[bool, list[Any]]]:
    """For each factor, whether it varies between launches, and the levels to measure."""
    first = affected[0]
    levels = {}
    for name, level in first.key.factors.items():
        if name in ("pattern", "program"):
            continue
        values = [level]
        if name in suspected:
            values += [row.key.factors[name] for row in affected if name in row.key.factors]
            values += beside.get(name, [])
        levels[name] = (name in first.key.cell, [v for k, v in enumerate(values) if v not in values[:k]])
    return levels


def _complete(draft: Draft) -> str:
    """The study, with enough sessions (at most 8), without what longshore-bench does not know."""
    levels = dict(draft.levels)
    left_out: list[str] = []
    while True:
        text = study_text(draft, levels, left_out, sessions=OTHER_SESSIONS[0])
        try:
            study = loads(text, "confirm.toml")
            break
        except StudyFileError as error:
            problem = error.problems[0]
            wrong = next((name for name in levels if f"factor '{name}'" in problem or f": {name}: " in problem), None)
            if wrong is None or wrong in draft.suspected:
                raise LongshoreError(f"no study can test {rule_text(draft.rule)}: {problem}") from None
            left_out.append(f"{wrong} = {json.dumps(levels.pop(wrong)[1][0])}")
    from longshore_study.planning.plan import make_plan  # noqa: PLC0415 - needed for the power analysis only

    # The user waits, so the number of simulated rows is small.
    power = PowerAnalysis(make_plan(study), spread_of(()), simulated_rows=1000)
    size = max(math.expm1(abs(draft.rule.difference)), study.margin) / 1.5
    enough = (n for n in OTHER_SESSIONS if (power.smallest_between_tags(n) or math.inf) <= size)
    return study_text(draft, levels, left_out, sessions=next(enough, OTHER_SESSIONS[-1]))
