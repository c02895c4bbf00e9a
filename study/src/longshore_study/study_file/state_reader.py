"""Reads the [states] of a study file: what is different in the launches with a tag."""

from __future__ import annotations

from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.study_file import environment_variables
from longshore_study.study_file.launcher_reader import read_launcher
from longshore_study.study_file.study import External, State, placeholders
from longshore_study.study_file.toml_positions import Path as KeyPath
from longshore_study.study_file.toml_values import Values, listed


def read_states(reader: Values, document: dict[str, Any], externals: tuple[External, ...]) -> dict[str, State]:
    tables = reader.table(document, (), "states", required=False)
    return {tag: _state(reader, document, reader.table(tables, ("states",), tag), tag, externals) for tag in tables}


def _state(
    reader: Values, document: dict[str, Any], table: dict[str, Any], tag: str, externals: tuple[External, ...]
) -> State:
    where = ("states", tag)
    reader.known_keys(table, where, ("bench", "environment", "launcher", "commands"), "key of a state")
    if not tag.strip():
        reader.problem(where, "a state has an empty name; its name is the tag of its launches")
    changes = reader.table(table, where, "launcher", required=False)
    reader.known_keys(changes, (*where, "launcher"), ("command", "arguments"), "key of a state's launcher")
    launcher = reader.table(document, (), "launcher", required=False)
    return State(
        bench=reader.text(table, where, "bench", "") or None,
        environment=environment_variables.read(
            reader.table(table, where, "environment", required=False),
            lambda name, what: reader.problem((*where, "environment", name), what),
        ),
        launcher=read_launcher(reader, {**launcher, **changes}) if changes else None,
        commands=_commands(reader, reader.table(table, where, "commands", required=False), where, externals),
    )


def _commands(
    reader: Values, table: dict[str, Any], where: KeyPath, externals: tuple[External, ...]
) -> dict[str, tuple[str, ...]]:
    names = {block.name for block in externals}
    found = {}
    for name in table:
        key_path = (*where, "commands", name)
        if name not in names:
            reader.problem(key_path, f"no [[external]] is named '{name}'{suggestion(name, names) or listed(names)}")
        found[name] = tuple(reader.texts(table, (*where, "commands"), name, required=True))
        factors = {factor for block in externals if block.name == name for factor in (*block.between, "output")}
        for placeholder in placeholders(" ".join(found[name])):
            if name in names and placeholder not in factors:
                what = f"'{{{placeholder}}}' in the command is not a factor of between"
                reader.problem(key_path, f"{what}{suggestion(placeholder, factors)}")
    return found
