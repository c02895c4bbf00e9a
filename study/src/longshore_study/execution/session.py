"""Runs a session of a study for the commands `run` and `resume`: options, set-up, summary, and exit
status. launch_runner.py runs the launches."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from typing import Any

from longshore_study.base.durations import parse_duration
from longshore_study.base.errors import EXIT_OK, EXIT_STOPPED, LongshoreError, UsageError
from longshore_study.base.json_values import attributes
from longshore_study.base.terminal import count
from longshore_study.execution import batch_session
from longshore_study.execution.child_process import Interrupted, Signals
from longshore_study.execution.launch_resolver import LaunchResolver, make_launch_resolver
from longshore_study.execution.launch_runner import Deadline, OutOfTime, Runner, Summary, default_session, remaining
from longshore_study.execution.launchers import Command, nodes_of
from longshore_study.execution.progress import duration, make_progress, print_unless_closed
from longshore_study.execution.session_folder import Target, store_study_file
from longshore_study.execution.session_lock import session_lock
from longshore_study.host.cores import available_cpus
from longshore_study.host.doctor import WARN, load_average
from longshore_study.planning.plan import Plan, PlannedLaunch, make_plan, missing_programs
from longshore_study.planning.time_estimate import TimeEstimate
from longshore_study.store.launch_store import Store, folder_name
from longshore_study.store.provenance import store_provenance
from longshore_study.study_file import environment_variables
from longshore_study.study_file.reader import load


def add_session_options(
    parser: argparse.ArgumentParser,
    tag: str = "the measured state, such as an image or a version (default: the study's name)",
    session: str = "the time of the measurement, such as a day or a job (default: the date)",
) -> None:
    parser.add_argument("--tag", help=tag)
    parser.add_argument("--session", help=session)
    parser.add_argument("--retry-failed", action="store_true", help="run failed launches again")
    parser.add_argument(
        "--bench", metavar="PATH", help="the longshore-bench to run (default: LONGSHORE_BENCH, beside longshore, PATH)"
    )
    parser.add_argument(
        "--mpirun", metavar="PATH", help="the MPI launcher (default: [launcher] command, LONGSHORE_MPIRUN, PATH)"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the commands in their order, without running them"
    )
    parser.add_argument(
        "--stop-after", metavar="TIME", help="stop within this time, such as 55m: start no launch that would end later"
    )
    parser.add_argument("--only-nodes", metavar="N", type=int, help="run only launches on this number of nodes")
    parser.add_argument(
        "--in-job", action="store_true", help="run here, inside a job, even if the study file names a batch system"
    )


def run_session(args: argparse.Namespace, study_path: str) -> int:
    """Runs the launches that the session lacks, or submits jobs for them. Returns the exit
    status."""
    stop_after = _stop_after(args.stop_after)
    begun = time.monotonic()
    plan = make_plan(load(study_path))
    target = _target(args, plan)
    launches, recorded, failed = remaining(plan, target, retry_failed=args.retry_failed)
    launches = _of_nodes(plan, launches, args.only_nodes)
    summary = Summary(plan.launches_per_session, recorded, failed)
    submits = plan.study.launcher.job is not None and not args.in_job
    resolver = make_launch_resolver(plan, bench=args.bench, mpirun=args.mpirun, dry_run=args.dry_run or submits)
    if submits and launches:
        return batch_session.submit_session(args, plan, target, launches, resolver)
    if args.dry_run:
        print_commands(args, [resolver.command(launch) for launch in launches])
        return EXIT_OK
    if launches:
        deadline = begun + stop_after if stop_after else None
        status = _run_locked(args, plan, target, launches, summary, resolver=resolver, deadline=deadline)
        if status is not None:
            return status
    print_summary(args, target, summary)
    return summary.exit_status


def _target(args: argparse.Namespace, plan: Plan) -> Target:
    session = default_session() if args.session is None else args.session
    tag = plan.study.name if args.tag is None else args.tag
    for name, kind in ((tag, "tag"), (session, "session")):
        folder_name(name, kind)  # raises an error for an empty name
    return Target(Store(args.store), plan.study.name, tag, session)


def _stop_after(text: str | None) -> int | None:
    try:
        return parse_duration(text) if text is not None else None
    except ValueError as error:
        raise UsageError(f"--stop-after: {error}") from None


def _of_nodes(plan: Plan, launches: list[PlannedLaunch], nodes: int | None) -> list[PlannedLaunch]:
    if nodes is None:
        return launches
    choice = plan.study.launcher
    known = sorted({nodes_of(cell, choice) or 1 for cell in plan.cells})
    if nodes not in known:
        raise UsageError(f"--only-nodes {nodes}: the launches of this study use {', '.join(map(str, known))} nodes")
    return [launch for launch in launches if (nodes_of(launch.cell, choice) or 1) == nodes]


def _run_locked(
    args: argparse.Namespace,
    plan: Plan,
    target: Target,
    launches: list[PlannedLaunch],
    summary: Summary,
    *,
    resolver: LaunchResolver,
    deadline: float | None,
) -> int | None:
    """Locks the session and runs `launches`. Returns the exit status if the user or the time limit
    stopped the session, and None otherwise."""
    store_study_file(plan, target)
    part = f"{args.only_nodes} nodes" if args.only_nodes is not None else ""
    with session_lock(target.folder, target.session, part, wait=args.in_job) as lock:
        estimate = TimeEstimate(target.store.launches(target.study))
        _announce(plan, target, launches, summary, estimate)
        progress = make_progress(plan, launches, estimate)
        runner = Runner(
            plan, target, resolver, progress,
            deadline=Deadline(deadline, estimate) if deadline is not None else None,
            extra_keys={"provenance": store_provenance(target.folder, resolver.programs())},
            heartbeat=lock.heartbeat,
        )  # fmt: skip
        continuation = f"continue with: {resume_command(plan, target)}"
        try:
            with Signals() as signals:
                runner.run(launches, signals, summary)
        except (Interrupted, OutOfTime) as stop:
            progress.close()
            left = len(launches) - len(summary.outcomes)
            if isinstance(stop, OutOfTime):
                status, stopped, why = EXIT_STOPPED, "time", "the time limit (--stop-after)"
            else:
                status, stopped, why = stop.exit_status, str(stop), str(stop)
            recorded = f"{count(len(summary.outcomes), 'launch')} recorded, {left} left"
            print_unless_closed(f"longshore: stopped by {why}; {recorded}; {continuation}", sys.stderr)
            if args.json:
                print_summary(args, target, summary, stopped=stopped, left=left)
            return status
        except LongshoreError as error:
            # The usual reason is a full disk. The current launch will be repeated.
            raise LongshoreError(f"{error}; then {continuation}", error.exit_status) from None
        finally:
            progress.close()
    return None


def resume_command(plan: Plan, target: Target) -> str:
    words = ["longshore", "run", plan.study.path, "--tag", target.tag, "--session", target.session]
    if str(target.store.path) != "longshore-results":
        words += ["--store", str(target.store.path)]
    return shlex.join(words)


def _announce(
    plan: Plan, target: Target, launches: list[PlannedLaunch], summary: Summary, estimate: TimeEstimate
) -> None:
    parts = [f"{count(len(launches), 'launch')} to run"]
    if summary.recorded_before:
        parts.append(f"{summary.recorded_before} recorded before")
    if summary.failed_before:
        parts.append(f"{summary.failed_before} failed before (--retry-failed runs them again)")
    expected = duration(estimate.total(launch.cell for launch in launches))
    about = "about" if all(estimate.knows(cell) for cell in plan.cells) else "roughly"
    where = f"{target.study}, tag {target.tag}, session {target.session}"
    print_unless_closed(f"{where}: {', '.join(parts)}, {about} {expected}", sys.stderr)
    if plan.left_out:
        print_unless_closed(f"left out: {missing_programs(plan.left_out)}", sys.stderr)
    load = load_average(len(available_cpus()))
    if load.state == WARN and any(launch.cell.machine is None for launch in launches):
        print_unless_closed(f"warning: load average {load.value}: {load.advice}", sys.stderr)


def print_summary(
    args: argparse.Namespace, target: Target, summary: Summary, *, stopped: str | None = None, left: int = 0
) -> None:
    ran = [outcome for outcome in summary.outcomes if not outcome.failure]
    skipped = [outcome for outcome in ran if outcome.skipped]
    folder = target.store.session_path(target.study, target.tag, target.session)
    if args.json:
        answer: dict[str, Any] = {
            "schema": 1,
            **attributes(target, "study tag session"),
            **attributes(summary, "planned recorded_before failed_before"),
            "recorded": len(ran),
            "failed": [
                {"cell": o.launch.cell.factors, "launch": o.launch.launch_index, "why": o.failure}
                for o in summary.failures
            ],
            "stopped": stopped,
            "left": left,
            "store": str(folder),
        }
        print(json.dumps(answer, indent=1))
        return
    if not summary.outcomes and not summary.failed_before:
        print(f"nothing to do: all {summary.planned} launches of session {target.session} are recorded in {folder}")
        return
    seconds = sum(outcome.seconds for outcome in summary.outcomes)
    words = [f"{count(len(ran), 'launch')} recorded in {duration(seconds)}"]
    if skipped:
        words.append(f"{len(skipped)} of them had nothing to run")
    if summary.failures:
        words.append(f"{len(summary.failures)} FAILED ('longshore status' lists them, --retry-failed runs them again)")
    if summary.failed_before:
        words.append(f"{summary.failed_before} failed before and were not repeated (--retry-failed runs them again)")
    print(f"{', '.join(words)}; stored in {folder}")
    if summary.failures:
        first = summary.failures[0]
        print(f"the first failure: {first.launch.cell.label}: {first.failure}")
    elif summary.failed_before:
        stored = target.store.launches(target.study, target.tag, target.session)
        print(f"the first failure: {next((x.problem for x in stored if x.problem), 'no longer stored')}")


def print_commands(args: argparse.Namespace, commands: list[Command]) -> None:
    """Prints the commands, one per line, as a user would type them."""
    if args.json:
        rows = [{"command": c.argv, **attributes(c, "environment binding")} for c in commands]
        print(json.dumps({"schema": 1, "launches": rows}, indent=1))
        return
    for command in commands:
        print(" ".join([*environment_variables.shell_prefix(command.environment), shlex.join(command.argv)]))
