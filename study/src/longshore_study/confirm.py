"""From an association to a cause: the study that tests a rule, and what its result says.

The study measures the suspected levels and others beside them, in the same launches or in turns, in random order, in
several sessions of both states of the machine. What the suspected ones have lost more than the others is then theirs:
all else was equal.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.attribution import DIFFERS, Attribution, rule_text
from longshore_study.errors import LongshoreError
from longshore_study.factors import BETWEEN, FACTORS
from longshore_study.pairing import Row
from longshore_study.prospects import Prospects, Spread
from longshore_study.statistics.rules import Rule
from longshore_study.store import Launch
from longshore_study.study_file import StudyFileError, loads

_ROWS = 3  # affected variants of which the study takes the levels
_CONTRASTS = 2  # levels beside the suspected ones, of each suspected factor
_SESSIONS = (2, 3, 5, 8)
_LAUNCHES = 5
_LIBRARIES = ("UCX_", "FI_", "MPICH_", "OMPI_MCA_", "I_MPI_", "SHMEM_", "OMP_", "MPIR_CVAR_")
_MOST_VARIABLES = 8


@dataclass(frozen=True)
class Confirmation:
    """A study file, and what of the rows could not be asked of longshore-bench."""

    text: str
    left_out: tuple[str, ...]


def confirming_study(attribution: Attribution, rule: Rule, name: str) -> Confirmation:
    """The smallest study that tests this rule. Raises LongshoreError where none can."""
    suspected = {c.factor: c for c in rule.conditions if not c.factor.startswith(DIFFERS) and c.factor != "pattern"}
    if not suspected:
        raise LongshoreError(
            f"no study can set what the change is associated with ({rule_text(rule)}): it names no factor of a pattern"
        )
    covered = sorted(attribution.rows_of(rule), key=lambda row: -abs(row.effect.difference) if row.effect else 0.0)
    program = next((row.key.pattern for row in covered if row.key.pattern in FACTORS), None)
    if program is None:
        raise LongshoreError(
            f"'{covered[0].key.pattern}' is no pattern of longshore-bench, so it cannot measure the rule"
        )
    affected = [row for row in covered if row.key.pattern == program][:_ROWS]
    beside = _beside(attribution, rule, affected, suspected)
    if not beside:
        raise LongshoreError(f"nothing beside {rule_text(rule)} was measured: there is no contrast to test it against")
    levels = _levels(affected, beside, suspected)
    ratio = math.exp(max(-700.0, min(700.0, rule.difference)))
    return _written(_Draft(attribution, rule, name, program, levels, ratio))


@dataclass(frozen=True)
class _Draft:
    attribution: Attribution
    rule: Rule
    name: str
    program: str
    levels: Mapping[str, tuple[bool, list[Any]]]
    """Of each factor: whether it is one between launches, and its levels."""
    ratio: float


def _beside(
    attribution: Attribution, rule: Rule, affected: Sequence[Row], suspected: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Of each suspected factor, the levels of rows that are like an affected one but for it, least changed first."""
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


def _alike(one: Mapping[str, Any], other: Mapping[str, Any], but: str) -> bool:
    return one["pattern"] == other["pattern"] and all(
        one.get(name) == other.get(name) for name in {*one, *other} if name not in (but, "program")
    )


def _levels(
    affected: Sequence[Row], beside: Mapping[str, list[Any]], suspected: Mapping[str, Any]
) -> dict[str, tuple[bool, list[Any]]]:
    """Of the strongest row and its contrasts; of factors that are not suspected, the level of the strongest alone."""
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


def _written(draft: _Draft) -> Confirmation:
    """Factors that longshore-bench does not know, or not with these levels, are left out one by one, and named."""
    levels = dict(draft.levels)
    left_out: list[str] = []
    while True:
        text = _text(draft, levels, left_out, sessions=_SESSIONS[0])
        try:
            study = loads(text, "confirm.toml")
        except StudyFileError as error:
            wrong = next((name for name in levels if _is_about(name, error.problems[0])), None)
            if wrong is None or any(condition.factor == wrong for condition in draft.rule.conditions):
                raise LongshoreError(f"no study can test {rule_text(draft.rule)}: {error.problems[0]}") from None
            left_out.append(f"{wrong} = {json.dumps(levels.pop(wrong)[1][0])}")
            continue
        break
    from longshore_study.plan import make_plan  # noqa: PLC0415 - the study has to be one that can be planned

    # Whether two sessions are enough or five, somebody waits to be told.
    prospects = Prospects(make_plan(study), Spread(0.03, 0.02, "assumed"), simulated_rows=1000)
    size = math.expm1(abs(draft.rule.difference))
    enough = (n for n in _SESSIONS if (prospects.smallest_between_tags(n) or math.inf) <= max(size, study.margin) / 1.5)
    return Confirmation(_text(draft, levels, left_out, sessions=next(enough, _SESSIONS[-1])), tuple(left_out))


def _is_about(name: str, problem: str) -> bool:
    return f"factor '{name}'" in problem or f": {name}: " in problem


def _text(draft: _Draft, levels: Mapping[str, tuple[bool, list[Any]]], left_out: Sequence[str], sessions: int) -> str:
    comparison = draft.attribution.comparison
    own = FACTORS[draft.program]
    launching = {*BETWEEN, "environment"}
    between = {n: v for n, (of_cell, v) in levels.items() if n in launching or (of_cell and n in own)}
    within = {n: v for n, (_, v) in levels.items() if n not in between}
    before, fixed = _environment(draft.attribution)
    if before:
        base = (between.get("environment") or [{}])[0]
        before = {**base, **before}
        between["environment"] = [base, before]
    between.setdefault("transport", ["mpi"])
    between.setdefault("ranks", [2])
    suspected = {
        c.factor: [level for level in levels[c.factor][1] if level in c.levels]
        for c in draft.rule.conditions
        if c.factor in levels
    }
    reference, new = comparison.reference.name, comparison.new.name
    lines = [
        f"# Is it the cause? From {_comment(reference)} to {_comment(new)} a change by a factor of {draft.ratio:.3g}",
        f"# is associated with {_comment(rule_text(draft.rule))}.",
        "# This study measures that and what is beside it, in the same launches or in turns. Run it in both states of",
        "# the machine, in sessions of the same names:",
        "#",
        "#   longshore run THIS --tag before --session monday       (and so on, as many sessions as below)",
        "#   longshore run THIS --tag after --session monday",
        "#   longshore attribute before after --confirm THIS",
        *(f"# not asked of longshore-bench: {_comment(one)}" for one in left_out),
        *(f"# set in {_comment(new)} alone, which no study can unset: {_comment(one)}" for one in fixed),
        "",
        "[study]",
        f"name = {_toml(draft.name)}",
        f"description = {_toml(f'Is {rule_text(draft.rule)} the cause?'[:90])}",
        f"sessions = {sessions}",
        f"launches = {_LAUNCHES}",
        "repetitions = 30",
        f"margin = {comparison.margin:g}",
        "",
        "[[pattern]]",
        f"program = {_toml(draft.program)}",
        "[pattern.within]",
        *(f"{name} = {_toml(values)}" for name, values in within.items()),
        "[pattern.between]",
        *(f"{name} = {_toml(values)}" for name, values in between.items()),
        "",
        "[hypothesis]",
        f"factors = {_toml(suspected)}",
        f"ratio = {draft.ratio:.6g}",
        *([f"environment = {_toml(before)}   # as it was in the reference"] if before else []),
        *_launcher(comparison.new.launches),
    ]
    return "\n".join(lines) + "\n"


def _environment(attribution: Attribution) -> tuple[dict[str, str], list[str]]:
    """The variables of communication libraries that the new side has otherwise, as the reference had them; and those
    that only the new side has."""
    sides = (attribution.comparison.reference.launches, attribution.comparison.new.launches)
    before, after = (_common_environment(launches) for launches in sides)
    changed = {name: value for name, value in before.items() if after.get(name) != value}
    return dict(sorted(changed.items())[:_MOST_VARIABLES]), sorted(after.keys() - before.keys())


def _common_environment(launches: Sequence[Launch]) -> dict[str, str]:
    """What all launches have alike."""
    told = [one for launch in launches if isinstance(one := (launch.header or {}).get("environment"), dict)]
    if not told:
        return {}
    return {
        name: str(value)
        for name, value in told[0].items()
        if name.startswith(_LIBRARIES) and all(one.get(name) == value for one in told)
    }


def _launcher(launches: Sequence[Launch]) -> list[str]:
    """As in the study file that lies beside the launches, where one does."""
    for launch in launches:
        digest = (launch.envelope.get("study_file") or {}).get("digest")
        path = launch.path.parent / f"study-{digest}.toml"
        if digest and path.exists():
            try:
                block = tomllib.loads(path.read_text(encoding="utf-8")).get("launcher")
            except (OSError, ValueError):
                return []
            if isinstance(block, dict):
                return ["", "[launcher]", *(f"{_key(name)} = {_toml(value)}" for name, value in block.items())]
    return []


def _comment(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def _toml(value: Any) -> str:
    """TOML of what JSON has; texts are quoted as JSON quotes them, which TOML reads alike."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    bare = name.replace("_", "").replace("-", "").isalnum() and name.isascii()
    return name if bare else json.dumps(name)
