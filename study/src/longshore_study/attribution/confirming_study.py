"""Writes the study that tests whether a rule describes the cause of a change.

The study measures suspected and other levels in the same launches or alternately, in random order,
in several sessions of both states of the machine. All else is equal, so a change of the suspected
levels beyond that of the others is caused by them. If variables of the environment differ between
the sides, the study also measures both settings of these variables in both states.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution.association import DIFFERS, Attribution, rule_text
from longshore_study.attribution.confirming_study_file import Draft, study_text
from longshore_study.attribution.rules import Rule
from longshore_study.attribution.suspected_variables import suspected_variables
from longshore_study.base.errors import LongshoreError
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.planning.power_analysis import PowerAnalysis, Spread
from longshore_study.study_file.factors import FACTORS
from longshore_study.study_file.reader import StudyFileError, loads

_ROWS = 3  # affected variants whose levels the study takes
_CONTRASTS = 2  # levels beside the suspected ones, per suspected factor
_SESSIONS = (2, 3, 5, 8)


@dataclass(frozen=True)
class ConfirmingStudy:
    """A study file, and the factors that longshore-bench cannot set."""

    text: str
    left_out: tuple[str, ...]


def confirming_study(attribution: Attribution, rule: Rule, name: str) -> ConfirmingStudy:
    """The smallest study that tests this rule. Raises LongshoreError if there is none."""
    suspected = {c.factor: c for c in rule.conditions if not c.factor.startswith(DIFFERS) and c.factor != "pattern"}
    sides = (attribution.comparison.reference, attribution.comparison.new)
    variables = suspected_variables(sides, attribution.rows_of(rule))
    if not suspected and not variables.new:
        raise LongshoreError(
            f"no study can set the conditions of the change ({rule_text(rule)}): they name no factor of a pattern, "
            "and no variable of the environment differs"
        )
    covered = sorted(attribution.rows_of(rule), key=lambda row: -abs(row.estimate.difference) if row.estimate else 0.0)
    program = next((row.key.pattern for row in covered if row.key.pattern in FACTORS), None)
    if program is None:
        raise LongshoreError(
            f"'{covered[0].key.pattern}' is not a pattern of longshore-bench, so no study can measure the rule"
        )
    affected = [row for row in covered if row.key.pattern == program][:_ROWS]
    beside = _beside(attribution, rule, affected, suspected)
    if not beside and not variables.new:
        raise LongshoreError(f"nothing beside {rule_text(rule)} was measured, so there is nothing to compare it with")
    levels = _levels(affected, beside, suspected if beside else {})
    return _complete(Draft(attribution, rule, name, program, levels, tuple(suspected) if beside else (), variables))


def _beside(
    attribution: Attribution, rule: Rule, affected: Sequence[JudgedRow], suspected: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """For each suspected factor, the levels of rows that differ from an affected row only in this
    factor, the least changed first."""
    found: dict[str, dict[str, tuple[float, Any]]] = {}
    covered = set(rule.covered)
    for place, row in enumerate(attribution.cases):
        if place in covered or row.effect is None:
            continue
        factors = row.key.factors
        for name in suspected:
            if name in factors and any(_alike(factors, one.key.factors, name) for one in affected):
                size = abs(attribution.left[place])
                known = found.setdefault(name, {}).setdefault(json.dumps(factors[name]), (size, factors[name]))
                if size < known[0]:
                    found[name][json.dumps(factors[name])] = (size, factors[name])
    return {
        name: [level for _, level in sorted(levels.values(), key=lambda one: one[0])[:_CONTRASTS]]
        for name, levels in found.items()
    }


def _alike(one: Mapping[str, Any], other: Mapping[str, Any], except_factor: str) -> bool:
    return one["pattern"] == other["pattern"] and all(
        one.get(name) == other.get(name) for name in {*one, *other} if name not in (except_factor, "program")
    )


def _levels(
    affected: Sequence[JudgedRow], beside: Mapping[str, list[Any]], suspected: Mapping[str, Any]
) -> dict[str, tuple[bool, list[Any]]]:
    """The levels of the strongest row and of its contrasts. Factors that are not suspected keep the
    level of the strongest row."""
    first = affected[0]
    found = {}
    for name, level in first.key.factors.items():
        if name in ("pattern", "program"):
            continue
        values = [level]
        if name in suspected:
            values += [row.key.factors[name] for row in affected if name in row.key.factors]
            values += beside.get(name, [])
        found[name] = (name in first.key.cell, [v for k, v in enumerate(values) if v not in values[:k]])
    return found


def _complete(draft: Draft) -> ConfirmingStudy:
    """The study with its number of sessions. Factors or levels that longshore-bench does not know
    are removed one by one, and named."""
    levels = dict(draft.levels)
    left_out: list[str] = []
    while True:
        text = study_text(draft, levels, left_out, sessions=_SESSIONS[0])
        try:
            study = loads(text, "confirm.toml")
        except StudyFileError as error:
            wrong = next((name for name in levels if _is_about(name, error.problems[0])), None)
            if wrong is None or wrong in draft.suspected:
                raise LongshoreError(f"no study can test {rule_text(draft.rule)}: {error.problems[0]}") from None
            left_out.append(f"{wrong} = {json.dumps(levels.pop(wrong)[1][0])}")
            continue
        break
    from longshore_study.planning.plan import make_plan  # noqa: PLC0415 - needed for the power analysis only

    # The user waits, so few simulated rows decide on the number of sessions.
    power = PowerAnalysis(make_plan(study), Spread(0.03, 0.02, "assumed"), simulated_rows=1000)
    size = math.expm1(abs(draft.rule.difference))
    enough = (n for n in _SESSIONS if (power.smallest_between_tags(n) or math.inf) <= max(size, study.margin) / 1.5)
    return ConfirmingStudy(study_text(draft, levels, left_out, sessions=next(enough, _SESSIONS[-1])), tuple(left_out))


def _is_about(name: str, problem: str) -> bool:
    return f"factor '{name}'" in problem or f": {name}: " in problem
