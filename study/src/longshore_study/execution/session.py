"""Runs a session for `run` and `resume`: options, set-up, summary, and exit status."""

import argparse
import math
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from longshore_study.base.default_store import store_option
from longshore_study.base.durations import duration, duration_of, today
from longshore_study.base.errors import EXIT_OK, EXIT_STOPPED, LongshoreError, UsageError
from longshore_study.base.json_values import attributes, print_json
from longshore_study.base.terminal import count, print_unless_closed
from longshore_study.execution import batch_session
from longshore_study.execution.child_process import Interrupted, Signals
from longshore_study.execution.launch_resolver import make_launch_resolver
from longshore_study.execution.launch_runner import OutOfTime, Runner, StateRun, Summary, remaining
from longshore_study.execution.launchers import nodes_of
from longshore_study.execution.progress import make_progress
from longshore_study.execution.session_folder import Target, store_study_file
from longshore_study.execution.session_lock import session_lock
from longshore_study.execution.turns import Turn, in_turns, states_of
from longshore_study.host.doctor import WARN, load_average
from longshore_study.host.machine import available_cpus
from longshore_study.planning.plan import Plan, PlannedLaunch, make_plan, missing_programs
from longshore_study.planning.time_estimate import TimeEstimate
from longshore_study.store.launch_store import Store, folder_name
from longshore_study.store.provenance import store_provenance
from longshore_study.study_file.reader import load
from longshore_study.study_file.study import Study


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
        "--stop-after", metavar="TIME", type=duration_of("--stop-after"),
        help="stop within this time, such as 55m: start no launch that would end later",
    )  # fmt: skip
    parser.add_argument("--only-nodes", metavar="N", type=int, help="run only launches on this number of nodes")
    parser.add_argument(
        "--in-job", action="store_true", help="run here, inside a job, even if the study file names a batch system"
    )


def run_session(args: argparse.Namespace, study_path: str, turns: Sequence[str] = ()) -> int:
    """Runs the launches that the session lacks, or submits jobs for them. With the tags of `turns`,
    the launches of these states run in turns. Returns the exit status."""
    begun = time.monotonic()
    study = load(study_path)
    turns = states_of(study, turns) if turns else ()
    submits = study.launcher.job is not None and not args.in_job
    states = [_state(args, study, tag, submits=submits) for tag in turns or [args.tag]]
    launches = in_turns(states)
    if submits and launches:
        return batch_session.submit_session(args, states, launches)
    if args.dry_run:
        print_commands(args, launches)
        return EXIT_OK
    if launches:
        deadline = begun + args.stop_after if args.stop_after else math.inf
        status = _run_locked(args, states, launches, deadline)
        if status is not None:
            return status
    print_summaries(args, [(state.target, state.summary) for state in states])
    return max(state.summary.exit_status for state in states)


def _state(args: argparse.Namespace, study: Study, tag: str | None, *, submits: bool) -> StateRun:
    tag = study.name if tag is None else tag
    if args.bench and study.in_state(tag).state.bench:
        raise UsageError(f"--bench: [states.{tag}] of {study.path} names the program; remove one of the two")
    plan = make_plan(study.in_state(tag))
    session = today() if args.session is None else args.session
    for name, kind in ((tag, "tag"), (session, "session")):
        folder_name(name, kind)  # raises an error for an empty name
    target = Target(Store(args.store), study.name, tag, session)
    launches, recorded, failed = remaining(plan, target, retry_failed=args.retry_failed)
    resolver = make_launch_resolver(plan, bench=args.bench, mpirun=args.mpirun, dry_run=args.dry_run or submits)
    launches = _of_nodes(plan, launches, args.only_nodes)
    return StateRun(plan, target, resolver, launches, Summary(plan.launches_per_session, recorded, failed))


def _of_nodes(plan: Plan, launches: list[PlannedLaunch], nodes: int | None) -> list[PlannedLaunch]:
    if nodes is None:
        return launches
    choice = plan.study.launcher
    known = sorted({nodes_of(cell, choice) or 1 for cell in plan.cells})
    if nodes not in known:
        raise UsageError(f"--only-nodes {nodes}: the launches of this study use {', '.join(map(str, known))} nodes")
    return [launch for launch in launches if (nodes_of(launch.cell, choice) or 1) == nodes]


def _run_locked(args: argparse.Namespace, states: Sequence[StateRun], turns: list[Turn], deadline: float) -> int | None:
    """Locks the session and runs `turns`. Returns the exit status if they were stopped."""
    part = f"{args.only_nodes} nodes" if args.only_nodes is not None else ""
    with ExitStack() as stack:
        locks = []
        for state in states:
            store_study_file(state.plan, state.target)
            lock = session_lock(state.target.folder, state.target.session, part, wait=args.in_job)
            locks.append(stack.enter_context(lock))
        estimate = TimeEstimate(states[0].target.store.launches(states[0].target.study))
        _announce(states, estimate)
        progress = make_progress(states[0].plan, [turn.launch for turn in turns], estimate)
        stack.callback(progress.close)
        runners = {}
        for state in states:
            provenance = store_provenance(state.target.folder, state.resolver.programs())
            runners[state.target.tag] = Runner(state, progress, locks, provenance, deadline)
        continuation = f"continue with: {resume_command(states)}"
        try:
            with Signals() as signals:
                for turn in turns:
                    tag = turn.state.target.tag
                    progress.tag = tag if len(states) > 1 else ""
                    runners[tag].run(turn.launch, signals)
        except (Interrupted, OutOfTime) as stop:
            progress.close()
            for state in states:
                state.summary.left = len(state.launches) - len(state.summary.outcomes)
            left = sum(state.summary.left for state in states)
            if isinstance(stop, OutOfTime):
                status, stopped, why = EXIT_STOPPED, "time", "the time limit (--stop-after)"
            else:
                status, stopped, why = stop.exit_status, str(stop), str(stop)
            ran = f"{count(len(turns) - left, 'launch')} recorded, {left} left"
            print_unless_closed(f"longshore: stopped by {why}; {ran}; {continuation}", sys.stderr)
            if args.json:
                print_summaries(args, [(state.target, state.summary) for state in states], stopped)
            return status
        except LongshoreError as error:
            # The usual reason is a full disk. The current launch will be repeated.
            raise LongshoreError(f"{error}; then {continuation}", error.exit_status) from None
    return None


def resume_command(states: Sequence[StateRun]) -> str:
    target, tags = states[0].target, [state.target.tag for state in states]
    words = ["longshore", "run", states[0].plan.study.path]
    words += ["--turns", *tags] if len(tags) > 1 else ["--tag", *tags]
    return shlex.join([*words, "--session", target.session, *store_option(target.store.path)])


def _announce(states: Sequence[StateRun], estimate: TimeEstimate) -> None:
    for state in states:
        plan, target, summary = state.plan, state.target, state.summary
        parts = [f"{count(len(state.launches), 'launch')} to run"]
        if summary.recorded_before:
            parts.append(f"{summary.recorded_before} recorded before")
        if summary.failed_before:
            parts.append(f"{summary.failed_before} failed before (--retry-failed runs them again)")
        expected = duration(estimate.total(launch.cell for launch in state.launches))
        about = "about" if all(estimate.knows(cell) for cell in plan.cells) else "roughly"
        print_unless_closed(f"{target.label}: {', '.join(parts)}, {about} {expected}", sys.stderr)
    if states[0].plan.left_out:
        print_unless_closed(f"left out: {missing_programs(states[0].plan.left_out)}", sys.stderr)
    load = load_average(len(available_cpus()))
    if load.state == WARN and any(launch.cell.machine is None for state in states for launch in state.launches):
        print_unless_closed(f"warning: load average {load.value}: {load.advice}", sys.stderr)


def print_summaries(
    args: argparse.Namespace, states: Sequence[tuple[Target, Summary]], stopped: str | None = None
) -> None:
    if args.json:
        answers = [_document(*state, stopped) for state in states]
        print_json(answers[0] if len(answers) == 1 else {"schema": 1, "turns": answers})
        return
    for target, summary in states:
        _print_summary(target, summary)


def _document(target: Target, summary: Summary, stopped: str | None) -> dict[str, Any]:
    return {
        "schema": 1,
        **attributes(target, "study tag session"),
        **attributes(summary, "planned recorded_before failed_before"),
        "recorded": sum(not outcome.failure for outcome in summary.outcomes),
        "failed": [
            {"cell": o.launch.cell.factors, "launch": o.launch.launch_index, "why": o.failure} for o in summary.failures
        ],
        "stopped": stopped,
        "left": summary.left,
        "store": str(target.folder),
    }


def _print_summary(target: Target, summary: Summary) -> None:
    ran = [outcome for outcome in summary.outcomes if not outcome.failure]
    skipped = [outcome for outcome in ran if outcome.skipped]
    folder = target.folder
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
        print(f"the first failure: {next((x.problem for x in target.launches() if x.problem), 'no longer stored')}")


def print_commands(args: argparse.Namespace, turns: Sequence[Turn]) -> None:
    """Prints the commands as a user would type them. In turns, a comment says the tag."""
    tags = [turn.state.target.tag for turn in turns]
    commands = [(turn.command, tag if len(set(tags)) > 1 else "") for turn, tag in zip(turns, tags, strict=True)]
    if args.json:
        rows = [
            {"command": command.argv, **attributes(command, "environment binding")} | ({"tag": tag} if tag else {})
            for command, tag in commands
        ]
        print_json({"schema": 1, "launches": rows})
        return
    for command, tag in commands:
        print(command.line + (f"  # {tag}" if tag else ""))
