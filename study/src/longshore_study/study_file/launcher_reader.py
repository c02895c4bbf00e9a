"""Reads the [launcher] table of a study file: the program that starts ranks, and the resources of
batch jobs."""

from longshore_study.patterns.pattern import LARGEST_RANKS
from longshore_study.study_file.study import JobChoice, LauncherChoice
from longshore_study.study_file.toml_values import TomlTable

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
