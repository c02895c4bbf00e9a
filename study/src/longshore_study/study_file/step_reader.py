"""Reads [[step]] tables. A step that selects or changes nothing is an error."""

from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import canonical_name
from longshore_study.base.groups import combinations_of, union_of
from longshore_study.patterns import FACTORS_BETWEEN_LAUNCHES, PATTERNS
from longshore_study.study_file import environment_variables
from longshore_study.study_file.study import PatternBlock, Step
from longshore_study.study_file.toml_values import TomlTable, listed, shown

STEP_KEYS = ("name", "with", "pattern")


def read_steps(tables: Sequence[TomlTable], blocks: Sequence[PatternBlock]) -> tuple[Step, ...]:
    """The steps in their order."""
    steps: list[Step] = []
    for table in tables:
        step = _step(table, blocks, steps)
        if step is not None:
            steps.append(step)
    return tuple(steps)


def _step(table: TomlTable, blocks: Sequence[PatternBlock], before: Sequence[Step]) -> Step | None:
    table.known_keys(STEP_KEYS, "key in [[step]]")
    name = table.name("step")
    pattern = _pattern(table, blocks)
    given = table.table("with")
    if pattern is None or not isinstance(table.content.get("with", {}), dict):
        return None
    earlier = [step for step in before if step.pattern == pattern]
    if any(step.name == name for step in earlier):
        table.problem(f"two steps of {pattern} are named {shown(name)}; give them different names", "name")
    own = [block for block in blocks if block.program == pattern]
    found = len(table.problems.found)
    changes = _changes(given, pattern, own)
    former = earlier[-1].levels if earlier else {}
    step = Step(name, pattern, changes, {**former, **changes})
    if len(table.problems.found) == found:
        _check_effect(table, step, former, earlier)
    if len(table.problems.found) == found and not any(_measures(block, step.levels) for block in own):
        what = ", ".join(f"{key} = {shown(level)}" for key, level in step.levels.items())
        table.problem(f"the step '{name}' selects nothing: no [[pattern]] {pattern} measures {what}")
    return step


def _pattern(table: TomlTable, blocks: Sequence[PatternBlock]) -> str | None:
    programs = list(dict.fromkeys(block.program for block in blocks))
    if not programs:
        table.problem("a step belongs to a [[pattern]], but the study has none")
        return None
    if "pattern" not in table:
        if len(programs) > 1:
            table.problem(f"the step needs the key 'pattern'; it is one of {', '.join(programs)}")
        return programs[0] if len(programs) == 1 else None
    named = table.word("pattern", tuple(PATTERNS))
    if named is not None and named not in programs:
        table.problem(f"the study has no [[pattern]] {named}{listed(programs)}", "pattern")
        return None
    return named


def _changes(given: TomlTable, pattern: str, blocks: Sequence[PatternBlock]) -> dict[str, Any]:
    levels = union_of(block.levels for block in blocks)
    changes: dict[str, Any] = {}
    for written, value in given.content.items():
        factor = canonical_name(written)
        if factor not in levels:
            given.problem(_unknown(written, pattern, levels), written)
            continue
        level = {k: environment_variables.text(v) for k, v in value.items()} if isinstance(value, dict) else value
        if level not in levels[factor]:
            words = [known for known in levels[factor] if isinstance(known, str)]
            near = suggestion(value, words) if isinstance(value, str) else ""
            hint = near or listed(map(_shown, levels[factor]))
            given.problem(f"{written}: the study does not measure the level {_shown(level)}{hint}", written)
            continue
        changes[factor] = level
    return changes


def _unknown(written: str, pattern: str, levels: Mapping[str, Any]) -> str:
    factor = canonical_name(written)
    near = suggestion(written, levels)
    if not near and factor in {**PATTERNS[pattern].factors, **FACTORS_BETWEEN_LAUNCHES}:
        return f"'{written}' does not vary in this study; give its levels in within or between of [[pattern]] {pattern}"
    return f"unknown factor '{written}' of {pattern}{near or listed(levels)}"


def _check_effect(table: TomlTable, step: Step, former: Mapping[str, Any], earlier: Sequence[Step]) -> None:
    """Checks that a step changes something, and that the first step has a level of each changed
    factor. Without this level, the step would be compared with a mixture of levels."""
    if not step.changes:
        table.problem(f"the step '{step.name}' names no factor, so it changes nothing")
    elif earlier and all(former.get(factor) == level for factor, level in step.changes.items()):
        levels = ", ".join(f"{factor} is {_shown(level)}" for factor, level in step.changes.items())
        table.problem(f"the step '{step.name}' changes nothing: {levels} already", "with")
    for factor in step.changes if earlier else ():
        if factor not in former:
            first = earlier[0].name
            what = f"'{factor}' changes here, but the first step, '{first}', does not give its level before"
            table.problem(f"{what}; add it there", "with", factor)


def _measures(block: PatternBlock, levels: Mapping[str, Any]) -> bool:
    """Whether the block measures a combination with these levels."""
    measured = block.levels
    if any(factor not in measured or level not in measured[factor] for factor, level in levels.items()):
        return False
    # Only combinations of the factors in the conditions matter. All combinations could be too many.
    compared = sorted(frozenset().union(*(condition.names for condition in block.exclude)) & measured.keys())
    choices = {name: [levels[name]] if name in levels else measured[name] for name in compared}
    return any(not any(condition.matches(chosen) for condition in block.exclude) for chosen in combinations_of(choices))


def _shown(level: Any) -> str:
    if isinstance(level, dict):
        return "{ " + ", ".join(f"{name} = {shown(value)}" for name, value in level.items()) + " }" if level else "{}"
    return shown(level)
