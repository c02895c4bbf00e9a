"""Reads the [hypothesis] table of a study file, which `longshore attribute` writes. Checks that the
study measures both suspected and other levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import canonical_name
from longshore_study.study_file import environment_variables
from longshore_study.study_file.study import Hypothesis, PatternBlock
from longshore_study.study_file.toml_values import Values, listed

WHERE = ("hypothesis",)
ENVIRONMENTS = ("environment", "new_environment")


def read_hypothesis(values: Values, document: Mapping[str, Any], blocks: Sequence[PatternBlock]) -> Hypothesis | None:
    if "hypothesis" not in document:
        return None
    table = values.table(document, (), "hypothesis")
    values.known_keys(table, WHERE, ("factors", "ratio", *ENVIRONMENTS), "key in [hypothesis]")
    environments = {name: _environment(values, table, name, blocks) for name in ENVIRONMENTS}
    has_environments = all(environments.values())
    given = values.table(table, WHERE, "factors", required=not has_environments)
    if "factors" in table and isinstance(table["factors"], dict) and not given and not has_environments:
        values.problem((*WHERE, "factors"), 'factors is empty; write factors = { mode = ["persistent"] }')
    suspected = {canonical_name(name): level if isinstance(level, list) else [level] for name, level in given.items()}
    ratio = values.number(
        table, WHERE, "ratio", default=1.0, most=1e12, allowed="above 0: the ratio new / before, above 1 is better"
    )
    known = {name for block in blocks for name in _levels(block)}
    for name, levels in suspected.items():
        where = (*WHERE, "factors", name)
        if name not in known:
            values.problem(
                where, f"unknown factor '{name}' of the hypothesis{suggestion(name, known) or listed(sorted(known))}"
            )
            continue
        measured = [level for block in blocks for level in _levels(block).get(name, ())]
        if not any(level in levels for level in measured):
            values.problem(where, f"the study does not measure the suspected level of {name}")
    if blocks and suspected and suspected.keys() <= known and not any(_contrasts(block, suspected) for block in blocks):
        values.problem((*WHERE, "factors"), "the study measures only suspected levels; add others to compare them with")
    return Hypothesis(suspected, ratio, **environments)


def _environment(
    values: Values, table: Mapping[str, Any], name: str, blocks: Sequence[PatternBlock]
) -> environment_variables.Level:
    where = (*WHERE, name)
    level = environment_variables.read(
        values.table(table, WHERE, name, required=False), lambda key, message: values.problem((*where, key), message)
    )
    if level and not any(level in _levels(block).get("environment", []) for block in blocks):
        values.problem(where, "no [[pattern]] measures this level of environment")
    return level


def _levels(block: PatternBlock) -> dict[str, list[Any]]:
    return {"pattern": [block.program], **block.within, **block.between}


def _contrasts(block: PatternBlock, suspected: Mapping[str, Iterable[Any]]) -> bool:
    """Whether a block has variants with all suspected levels, and variants without them."""
    levels = _levels(block)
    inside = all(any(level in wanted for level in levels.get(name, ())) for name, wanted in suspected.items())
    outside = any(any(level not in wanted for level in levels.get(name, ())) for name, wanted in suspected.items())
    return inside and outside
