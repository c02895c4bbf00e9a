"""Reads the [states] of a study file: what is different in the launches with a tag."""

from longshore_study.base.errors import suggestion
from longshore_study.study_file import environment_variables
from longshore_study.study_file.launcher_reader import read_launcher
from longshore_study.study_file.study import External, State, placeholders
from longshore_study.study_file.toml_values import TomlTable, listed


def read_states(document: TomlTable, externals: tuple[External, ...]) -> dict[str, State]:
    tables = document.table("states", required=False)
    return {tag: _state(document, tables.table(tag), tag, externals) for tag in tables.content}


def _state(document: TomlTable, table: TomlTable, tag: str, externals: tuple[External, ...]) -> State:
    table.known_keys(("bench", "environment", "launcher", "commands"), "key of a state")
    if not tag.strip():
        table.problem("a state has an empty name; its name is the tag of its launches")
    changes = table.table("launcher", required=False)
    changes.known_keys(("command", "arguments"), "key of a state's launcher")
    launcher = document.table("launcher", required=False)
    changed = TomlTable(table.problems, {**launcher.content, **changes.content}, launcher.where)
    variables = table.table("environment", required=False)
    return State(
        bench=table.text("bench") or None,
        environment=environment_variables.read(variables.content, variables.problem),
        launcher=read_launcher(changed) if changes.content else None,
        commands=_commands(table.table("commands", required=False), externals),
    )


def _commands(table: TomlTable, externals: tuple[External, ...]) -> dict[str, tuple[str, ...]]:
    names = {block.name for block in externals}
    found = {}
    for name in table.content:
        if name not in names:
            table.problem(f"no [[external]] is named '{name}'{suggestion(name, names) or listed(names)}", name)
        found[name] = tuple(table.texts(name, required=True))
        factors = {factor for block in externals if block.name == name for factor in (*block.between, "output")}
        for placeholder in placeholders(" ".join(found[name])):
            if name in names and placeholder not in factors:
                what = f"'{{{placeholder}}}' in the command is not a factor of between"
                table.problem(f"{what}{suggestion(placeholder, factors)}", name)
    return found
