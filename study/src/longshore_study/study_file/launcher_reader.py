"""Reads the [launcher] table of a study file: the program that starts ranks, and the resources of
batch jobs."""

from __future__ import annotations

from typing import Any

from longshore_study.patterns.pattern import LARGEST_RANKS
from longshore_study.study_file.study import JobChoice, LauncherChoice
from longshore_study.study_file.toml_values import Values

LAUNCHER_KINDS = ("local", "mpirun", "srun", "flux", "slurm-batch", "pbs-batch", "flux-batch")
_JOB_KEYS = ("time_limit", "nodes", "jobs", "one_job_per", "options", "modules")
_WHERE = ("launcher",)


def read_launcher(reader: Values, block: dict[str, Any]) -> LauncherChoice:
    reader.known_keys(
        block, _WHERE, ("kind", "command", "arguments", "ranks_per_node", *_JOB_KEYS), "key in [launcher]"
    )
    named = reader.word(block, _WHERE, "kind", LAUNCHER_KINDS) if "kind" in block else "local"
    kind = named or "local"
    job = _job(reader, block, kind) if kind.endswith("-batch") else None
    if job is None and named is not None:  # a mistyped kind may be meant to submit jobs
        for key in (key for key in _JOB_KEYS if key in block):
            reader.problem((*_WHERE, key), f"'{key}' is for batch systems, but kind = \"{kind}\" submits no job")
    return LauncherChoice(
        kind=kind,
        command=reader.text(block, _WHERE, "command", "") or None,
        arguments=tuple(reader.texts(block, _WHERE, "arguments")),
        ranks_per_node=reader.optional_integer(block, _WHERE, "ranks_per_node", most=LARGEST_RANKS),
        job=job,
    )


def _job(reader: Values, block: dict[str, Any], kind: str) -> JobChoice:
    if "time_limit" not in block:
        reader.problem(_WHERE, f'kind = "{kind}" submits jobs, which need a time limit; write time_limit = "1h"')
    per = reader.word(block, _WHERE, "one_job_per", ("session", "nodes")) if "one_job_per" in block else None
    return JobChoice(
        time_limit_seconds=reader.duration(block, _WHERE, "time_limit", 3600),
        nodes=reader.optional_integer(block, _WHERE, "nodes", most=LARGEST_RANKS),
        jobs=reader.integer(block, _WHERE, "jobs", default=1, least=1, most=1000),
        one_job_per=per or "session",
        options=tuple(reader.texts(block, _WHERE, "options")),
        modules=tuple(reader.texts(block, _WHERE, "modules")),
    )
