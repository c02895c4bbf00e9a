"""One session of a study from the command line: the options, the set-up, what is said at its end, and the exit status.
`run` and `resume` share it."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from typing import Any

from longshore_study.child import Interrupted, Signals
from longshore_study.doctor import WARN, load_average
from longshore_study.errors import LongshoreError
from longshore_study.forecast import Forecast
from longshore_study.launchers import BENCH, Command, Launcher, available_cpus, find_bench, make_launcher
from longshore_study.plan import Plan, PlannedLaunch, make_plan
from longshore_study.progress import duration, make_progress, say
from longshore_study.run import Runner, Summary, default_session, program_of, remaining
from longshore_study.session_folder import Target, claimed, keep_study_file
from longshore_study.store import Store, folder_name
from longshore_study.study_file import load


def add_session_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tag", help="what is measured, as an image or a version (default: the study's name)")
    parser.add_argument("--session", help="when it is measured, as a day or a job (default: the date)")
    parser.add_argument("--retry-failed", action="store_true", help="run failed launches once more")
    parser.add_argument(
        "--bench", metavar="PATH", help="the longshore-bench to run (default: LONGSHORE_BENCH, beside longshore, PATH)"
    )
    parser.add_argument(
        "--mpirun", metavar="PATH", help="the MPI launcher (default: [launcher] command, LONGSHORE_MPIRUN, PATH)"
    )
    parser.add_argument("--dry-run", action="store_true", help="print the commands that would run, in their order")


def run_session(args: argparse.Namespace, study_path: str) -> int:
    """Runs what the session lacks; returns the exit status of the verb."""
    plan = make_plan(load(study_path))
    study = plan.study
    session = default_session() if args.session is None else args.session
    tag = study.name if args.tag is None else args.tag
    target = Target(Store(args.store), study.name, tag, session)
    for name, what in ((target.tag, "tag"), (target.session, "session")):
        folder_name(name, what)  # an empty one is refused here, before anything runs
    launches, done, failed = remaining(plan, target, retry_failed=args.retry_failed)
    summary = Summary(plan.launches_per_session, done, failed)
    bench = _bench(args) if any(cell.external is None for cell in plan.cells) else ""
    launcher = make_launcher(study.launcher, plan.cells, args.mpirun)
    if args.dry_run:
        for launch in launches:
            _print_command(launcher.command(launch.cell, program_of(plan, launch, bench)))
        return 0
    if launches:
        status = _run(plan, target, launches, summary, launcher=launcher, bench=bench)
        if status is not None:
            return status
    _conclude(args, target, summary)
    return summary.exit_status


def _bench(args: argparse.Namespace) -> str:
    """The program to run; what is only printed may be run elsewhere."""
    try:
        return find_bench(args.bench)
    except LongshoreError:
        if args.dry_run and args.bench is None:
            return BENCH
        raise


def _run(
    plan: Plan, target: Target, launches: list[PlannedLaunch], summary: Summary, *, launcher: Launcher, bench: str
) -> int | None:
    """Runs `launches`; the exit status when the user stopped it, else None."""
    keep_study_file(plan, target)
    with claimed(target):
        return _run_claimed(plan, target, launches, summary, launcher=launcher, bench=bench)


def _run_claimed(
    plan: Plan, target: Target, launches: list[PlannedLaunch], summary: Summary, *, launcher: Launcher, bench: str
) -> int | None:
    forecast = Forecast(target.store.launches(target.study))
    _announce(plan, target, launches, summary, forecast)
    progress = make_progress(plan, launches, forecast)
    try:
        with Signals() as signals:
            Runner(plan, target, launcher, bench, progress).run(launches, signals, summary)
    except Interrupted as stop:
        progress.close()
        left = len(launches) - len(summary.outcomes)
        say(
            f"longshore: stopped by {stop}; {len(summary.outcomes)} launches recorded, {left} left; "
            f"go on with: {resume_command(plan, target)}",
            sys.stderr,
        )
        return stop.exit_status
    except LongshoreError as error:
        # A full disk, mostly. What was recorded stays; the launch at hand is run again.
        raise LongshoreError(f"{error}; then go on with: {resume_command(plan, target)}", error.exit_status) from None
    finally:
        progress.close()
    return None


def resume_command(plan: Plan, target: Target) -> str:
    words = ["longshore", "run", plan.study.path, "--tag", target.tag, "--session", target.session]
    if str(target.store.path) != "longshore-results":
        words += ["--store", str(target.store.path)]
    return shlex.join(words)


def _announce(plan: Plan, target: Target, launches: list[PlannedLaunch], summary: Summary, forecast: Forecast) -> None:
    parts = [f"{len(launches)} launches to run"]
    if summary.recorded_before:
        parts.append(f"{summary.recorded_before} recorded before")
    if summary.failed_before:
        parts.append(f"{summary.failed_before} failed before (--retry-failed runs them again)")
    expected = duration(forecast.total(launch.cell for launch in launches))
    sure = all(forecast.knows(cell) for cell in plan.cells)
    about = "about" if sure else "roughly"
    where = f"{target.study}, tag {target.tag}, session {target.session}"
    say(f"{where}: {', '.join(parts)}, {about} {expected}", sys.stderr)
    load = load_average(len(available_cpus()))
    if load.state == WARN:
        say(f"warning: load average {load.value}: {load.advice}", sys.stderr)


def _conclude(args: argparse.Namespace, target: Target, summary: Summary) -> None:
    ran = [outcome for outcome in summary.outcomes if not outcome.failure]
    skipped = [outcome for outcome in ran if outcome.skipped]
    folder = target.store.session_path(target.study, target.tag, target.session)
    if args.json:
        answer: dict[str, Any] = {
            "schema": 1,
            "study": target.study,
            "tag": target.tag,
            "session": target.session,
            "planned": summary.planned,
            "recorded_before": summary.recorded_before,
            "failed_before": summary.failed_before,
            "recorded": len(ran),
            "failed": [
                {"cell": o.launch.cell.factors, "launch": o.launch.launch_index, "why": o.failure}
                for o in summary.failures
            ],
            "store": str(folder),
        }
        print(json.dumps(answer, indent=1))
        return
    if not summary.outcomes and not summary.failed_before:
        print(f"nothing to do: all {summary.planned} launches of session {target.session} are recorded in {folder}")
        return
    seconds = sum(outcome.seconds for outcome in summary.outcomes)
    words = [f"{len(ran)} launches recorded in {duration(seconds)}"]
    if skipped:
        words.append(f"{len(skipped)} of them had nothing to run")
    if summary.failures:
        words.append(f"{len(summary.failures)} FAILED ('longshore status' lists them, --retry-failed runs them again)")
    if summary.failed_before:
        words.append(f"{summary.failed_before} failed before and were left alone (--retry-failed runs them again)")
    print(f"{', '.join(words)}; stored in {folder}")
    if summary.failures:
        first = summary.failures[0]
        print(f"the first failure: {first.launch.cell.label}: {first.failure}")
    elif summary.failed_before:
        kept = (x.problem for x in target.store.launches(target.study, target.tag, target.session) if x.problem)
        print(f"the first failure: {next(kept, 'not stored any more')}")


def _print_command(command: Command) -> None:
    assignments = [f"{name}={shlex.quote(value)}" for name, value in command.environment.items()]
    print(" ".join([*assignments, shlex.join(command.argv)]))
