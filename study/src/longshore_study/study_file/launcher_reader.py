"""Reads the [launcher] table of a study file: the program that starts ranks, and the resources of
batch jobs, and [states]: what is different in the launches with a tag."""

from collections.abc import Collection, Sequence

from longshore_study.base.errors import suggestion
from longshore_study.patterns.pattern import LARGEST_RANKS
from longshore_study.study_file import environment_variables
from longshore_study.study_file.study import External, JobChoice, LauncherChoice, State, placeholders
from longshore_study.study_file.toml_values import TomlTable, listed

LAUNCHER_KINDS = ("local", "mpirun", "srun", "flux", "slurm-batch", "pbs-batch", "flux-batch")
_JOB_KEYS = ("time_limit", "nodes", "jobs", "one_job_per", "options", "modules")


def read_launcher(table: TomlTable) -> LauncherChoice:
    table.known_keys(("kind", "command", "arguments", "ranks_per_node", *_JOB_KEYS), "key in [launcher]")
    named = table.word("kind", LAUNCHER_KINDS) if "kind" in table else "local"
    kind = named or "local"
    job = _job(table, kind) if kind.endswith("-batch") else None
    if job is None and named is not None:  # a mistyped kind may be meant to submit jobs
        for key in (key for key in _JOB_KEYS if key in table):
            table.problem(f"'{key}' is for batch systems, but kind = \"{kind}\" submits no job", key)
    return LauncherChoice(
        kind=kind,
        command=table.text("command") or None,
        arguments=tuple(table.texts("arguments")),
        ranks_per_node=table.optional_integer("ranks_per_node", most=LARGEST_RANKS),
        job=job,
    )


def _job(table: TomlTable, kind: str) -> JobChoice:
    if "time_limit" not in table:
        table.problem(f'kind = "{kind}" submits jobs, which need a time limit; write time_limit = "1h"')
    return JobChoice(
        time_limit_seconds=table.duration("time_limit", 3600),
        nodes=table.optional_integer("nodes", most=LARGEST_RANKS),
        jobs=table.integer("jobs", default=1, least=1, most=1000),
        one_job_per=table.optional_word("one_job_per", ("session", "nodes")) or "session",
        options=tuple(table.texts("options")),
        modules=tuple(table.texts("modules")),
    )


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
        factors = {factor for block in externals if block.name == name for factor in block.between}
        if name in names:
            check_placeholders(table, name, found[name], factors)
    return found


def check_placeholders(table: TomlTable, key: str, command: Sequence[str], factors: Collection[str]) -> None:
    """Each name in braces in a command must be a factor, or `output`."""
    for index, argument in enumerate(command):
        for name in placeholders(argument):
            if name not in factors and name != "output":
                near = suggestion(name, factors)
                table.problem(f"'{{{name}}}' in the command is not a factor of between{near}", key, index)
