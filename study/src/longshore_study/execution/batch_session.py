"""Runs a session in a batch system: submits a job whose script calls `longshore run --in-job`. That
command starts the launches of the session one after the other. It stops before the time limit of
the job."""

import argparse
import datetime as dt
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from longshore_study.base.durations import clock
from longshore_study.base.errors import EXIT_OK, LongshoreError
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes, print_json
from longshore_study.execution import batch_systems
from longshore_study.execution.batch_systems import JobRequest
from longshore_study.execution.launch_runner import StateRun
from longshore_study.execution.launchers import nodes_of
from longshore_study.execution.session_folder import Target, store_study_file
from longshore_study.execution.turns import Turn
from longshore_study.planning.plan import Cell, Plan
from longshore_study.study_file.reader import StudyFileError
from longshore_study.study_file.study import JobChoice, LauncherChoice, Study
from longshore_study.study_file.toml_positions import key_lines, line_of

_MAX_RESERVE_SECONDS = 60


def submit_session(args: argparse.Namespace, states: Sequence[StateRun], turns: list[Turn]) -> int:
    """Submits jobs for `turns`, or prints them with --dry-run. The jobs belong to the first state.
    Raises LongshoreError if a job of the session has not ended."""
    plan, target = states[0].plan, states[0].target
    choice = plan.study.launcher
    refuse_too_few_nodes(plan.study, [turn.cell for turn in turns])
    groups = _groups(choice, turns)
    if args.dry_run:
        return _print_plan(args, states, groups)
    system = batch_systems.SYSTEMS[choice.kind]
    for job in submitted_jobs(target):
        state, why = batch_systems.state_of(batch_systems.SYSTEMS[job["system"]], job["id"])
        if state == batch_systems.UNKNOWN:
            raise LongshoreError(
                f"the state of job {job['id']} of session {target.session} is unknown ({why}); try again later, "
                f"or, if the job has ended, remove {job['file']}"
            )
        if state != batch_systems.ENDED:
            cancel = shlex.join([*batch_systems.SYSTEMS[job["system"]].cancellation, job["id"]])
            raise LongshoreError(
                f"job {job['id']} of session {target.session} is {state}; wait for it ('longshore status' shows its "
                f"state), or cancel it with: {cancel}"
            )
    for each in states:
        store_study_file(each.plan, each.target)
    submitted = []
    for nodes, group in groups.items():
        job_id: str | None = None
        for number in range(_job(choice).jobs):
            request = _request(plan, target, nodes, number, after=job_id)
            script = _script(args, states, nodes).encode("utf-8", "surrogateescape")  # folder names are bytes
            request.script.write_bytes(script)
            job_id = batch_systems.submit(system, request)
            row = {
                "system": system.kind, "id": job_id, "nodes": request.nodes, "time_limit_seconds": request.seconds,
                "submitted": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), "output": str(request.output),
                "launches_left": len(group), "after": request.after,
            }  # fmt: skip
            request.script.with_suffix(".json").write_text(json.dumps(row, indent=1), encoding="utf-8")
            submitted.append(row)
    _print_submitted(args, target, submitted)
    return EXIT_OK


def refuse_too_few_nodes(study: Study, cells: Iterable[Cell]) -> None:
    """Raises StudyFileError if a launch needs more nodes than the study requests for the job."""
    choice = study.launcher
    if choice.job is None or choice.job.nodes is None or choice.job.one_job_per == "nodes":
        return
    needed, largest = max(((nodes_of(cell, choice) or 1, cell.label) for cell in cells), default=(1, ""))
    if needed > choice.job.nodes:
        line = line_of(key_lines(study.text), ("launcher", "nodes"))
        problem = (
            f"{study.path}:{line}: [launcher] nodes = {choice.job.nodes}, but {largest} needs {needed}; write "
            f"nodes = {needed}, or remove the key"
        )
        raise StudyFileError([problem])


def submitted_jobs(target: Target) -> list[dict[str, Any]]:
    """The jobs of a session in the order of submission, each with the `file` that describes it."""
    jobs = []
    for path in sorted(target.folder.glob("job-*.json")):
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(row, dict) and isinstance(row.get("id"), str) and row.get("system") in batch_systems.SYSTEMS:
            jobs.append(row | {"file": str(path)})
    return jobs


def _groups(choice: LauncherChoice, turns: list[Turn]) -> dict[int | None, list[Turn]]:
    """The launches of each job, by the number of nodes, or all with the key None."""
    if _job(choice).one_job_per == "session":
        return {None: turns}
    return dict(sorted(grouped(turns, lambda turn: nodes_of(turn.cell, choice) or 1).items()))


def _request(plan: Plan, target: Target, nodes: int | None, number: int, *, after: str | None) -> JobRequest:
    """The request for job `number` of the launches on `nodes` nodes, or of all if None."""
    choice = plan.study.launcher
    job = _job(choice)
    job_nodes = nodes or job.nodes or max((nodes_of(cell, choice) or 1 for cell in plan.cells), default=1)
    stamp = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S")
    stem = f"job-{stamp}-{job_nodes}-{number}"
    folder = target.folder.absolute()
    in_job = [cell for cell in plan.cells if nodes is None or (nodes_of(cell, choice) or 1) == nodes]
    ranks_per_node = [-(-cell.ranks // (nodes_of(cell, choice) or nodes or job.nodes or 1)) for cell in in_job]
    return JobRequest(
        name=re.sub(r"[^A-Za-z0-9_.+-]", "_", f"ls-{target.study}")[:60],
        nodes=job_nodes,
        seconds=job.time_limit_seconds,
        script=folder / f"{stem}.sh",
        output=folder / f"{stem}.out",
        after=after,
        options=job.options,
        max_ranks_per_node=max(ranks_per_node, default=1),
    )


def _script(args: argparse.Namespace, states: Sequence[StateRun], nodes: int | None) -> str:
    plan, target = states[0].plan, states[0].target
    job = _job(plan.study.launcher)
    study = (target.folder / f"study-{plan.study.digest}.toml").absolute()  # the stored copy, which users do not edit
    # The last launch is stopped before the time limit of the job, so that longshore can end the
    # session properly.
    reserve = min(_MAX_RESERVE_SECONDS, max(2, job.time_limit_seconds // 12))
    command = [sys.executable, "-m", "longshore_study", "run", str(study)]
    command += ["--turns", *(state.target.tag for state in states)] if len(states) > 1 else [f"--tag={target.tag}"]
    command += [f"--session={target.session}", f"--store={target.store.path.absolute()}", "--in-job"]
    command += [f"--stop-after={max(1, job.time_limit_seconds - reserve)}s"]
    command += [f"--only-nodes={nodes}"] if nodes is not None else []
    command += [f"--bench={Path(args.bench).absolute()}"] if args.bench else []
    command += [f"--mpirun={args.mpirun}"] if args.mpirun else []
    command += ["--retry-failed"] if args.retry_failed else []
    variables = {name: value for name, value in os.environ.items() if re.fullmatch(r"LONGSHORE_\w+", name)}
    return batch_systems.script_text(command, str(Path.cwd()), job.modules, variables)


def _job(choice: LauncherChoice) -> JobChoice:
    assert choice.job is not None  # noqa: S101 - only batch launchers get here
    return choice.job


def _print_plan(args: argparse.Namespace, states: Sequence[StateRun], groups: dict[int | None, list[Turn]]) -> int:
    plan, target = states[0].plan, states[0].target
    system = batch_systems.SYSTEMS[plan.study.launcher.kind]
    jobs = []
    for nodes, group in groups.items():
        for number in range(_job(plan.study.launcher).jobs):
            request = _request(plan, target, nodes, number, after="JOB" if number else None)
            commands = [turn.command for turn in group]
            jobs.append((system.submission(request), _script(args, states, nodes), commands))
    if args.json:
        rows = [
            {"submit": submit, "script": script,
             "launches": [{"command": c.argv, "environment": c.environment} for c in commands]}
            for submit, script, commands in jobs
        ]  # fmt: skip
        print_json({"schema": 1, "jobs": rows})
        return EXIT_OK
    for submit, script, commands in jobs:
        print(f"# would be submitted with:\n{shlex.join(submit)}\n# with this script:\n{script}# which starts:")
        print(*(command.line for command in commands), sep="\n")
    return EXIT_OK


def _print_submitted(args: argparse.Namespace, target: Target, submitted: list[dict[str, Any]]) -> None:
    if args.json:
        print_json({"schema": 1, **attributes(target, "study tag session"), "jobs": submitted})
        return
    for row in submitted:
        after = f", after job {row['after']}" if row["after"] else ""
        request = f"{row['nodes']} nodes for {clock(row['time_limit_seconds'])}"
        print(f"job {row['id']} submitted: {request}{after}; {row['launches_left']} launches to run")
    print(f"'longshore status' shows their progress; their output: {os.path.dirname(submitted[0]['output'])}")  # noqa: PTH120 - a text
