"""Reads [hypothesis], which `longshore attribute` writes: suspected and other levels."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import canonical_name
from longshore_study.base.groups import union_of
from longshore_study.study_file import environment_variables
from longshore_study.study_file.study import Hypothesis, PatternBlock
from longshore_study.study_file.toml_values import TomlTable, listed

ENVIRONMENTS = ("environment", "new_environment")


def read_hypothesis(document: TomlTable, blocks: Sequence[PatternBlock]) -> Hypothesis | None:
    if "hypothesis" not in document:
        return None
    table = document.table("hypothesis")
    table.known_keys(("factors", "ratio", *ENVIRONMENTS), "key in [hypothesis]")
    environments = {name: _environment(table, name, blocks) for name in ENVIRONMENTS}
    has_environments = all(environments.values())
    factors = table.table("factors", required=not has_environments)
    if table.content.get("factors") == {} and not has_environments:
        factors.problem('factors is empty; write factors = { mode = ["persistent"] }')
    suspected = {
        canonical_name(name): level if isinstance(level, list) else [level] for name, level in factors.content.items()
    }
    ratio = table.number("ratio", default=1.0, most=1e12, allowed="above 0: the ratio new / before, above 1 is better")
    known = union_of(map(_levels, blocks))
    for name, levels in suspected.items():
        if name not in known:
            near = suggestion(name, known) or listed(sorted(known))
            factors.problem(f"unknown factor '{name}' of the hypothesis{near}", name)
            continue
        if not any(level in levels for level in known[name]):
            factors.problem(f"the study does not measure the suspected level of {name}", name)
    if (
        blocks
        and suspected
        and suspected.keys() <= known.keys()
        and not any(_contrasts(block, suspected) for block in blocks)
    ):
        factors.problem("the study measures only suspected levels; add others to compare them with")
    return Hypothesis(suspected, ratio, **environments)


def _environment(table: TomlTable, name: str, blocks: Sequence[PatternBlock]) -> environment_variables.Level:
    variables = table.table(name, required=False)
    level = environment_variables.read(variables.content, variables.problem)
    if level and not any(level in _levels(block).get("environment", []) for block in blocks):
        variables.problem("no [[pattern]] measures this level of environment")
    return level


def _levels(block: PatternBlock) -> dict[str, list[Any]]:
    return {"pattern": [block.program], **block.levels}


def _contrasts(block: PatternBlock, suspected: Mapping[str, Iterable[Any]]) -> bool:
    """Whether a block has variants with all suspected levels, and variants without them."""
    levels = _levels(block)
    inside = all(any(level in wanted for level in levels.get(name, ())) for name, wanted in suspected.items())
    outside = any(any(level not in wanted for level in levels.get(name, ())) for name, wanted in suspected.items())
    return inside and outside
