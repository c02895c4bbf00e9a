"""Running a session of a study: what is not yet recorded, in the plan's random order, one launch after the other.

A launch is recorded whole (envelope and the program's records, one file) or not at all; one that failed is recorded as
failed, and the study goes on. Whatever stops a session - Ctrl-C, kill -9, a full disk - it goes on from there when the
same command is typed again.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from longshore_study.child import ChildResult, Signals, run_child
from longshore_study.errors import LongshoreError
from longshore_study.launchers import Command, Launcher
from longshore_study.plan import Cell, Plan, PlannedLaunch
from longshore_study.store import Store

EXIT_LAUNCH_FAILED = 1
_RECORD_START = '{"record"'
NOTHING_COULD_RUN = 2  # longshore-bench: all variants were skipped, or a usage error


@dataclass(frozen=True)
class Outcome:
    """What became of one launch."""

    launch: PlannedLaunch
    seconds: float
    failure: str | None
    """Why it is no measurement; None when it is one."""
    skipped: str | None = None
    """Why nothing could run here, where that is the program's answer and no failure."""


class Progress(Protocol):
    """Somebody who watches a session; see progress.py."""

    def begin(self, launch: PlannedLaunch) -> None: ...
    def tick(self) -> None: ...
    def end(self, outcome: Outcome) -> None: ...


@dataclass(frozen=True)
class Target:
    """Where launches are stored."""

    store: Store
    study: str
    tag: str
    session: str


@dataclass
class Summary:
    """What a run of a session has done."""

    planned: int = 0
    recorded_before: int = 0
    failed_before: int = 0
    """Launches that failed in an earlier run and are not tried again."""
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.failure]

    @property
    def exit_status(self) -> int:
        return EXIT_LAUNCH_FAILED if self.failures or self.failed_before else 0


def remaining(plan: Plan, target: Target, *, retry_failed: bool = False) -> tuple[list[PlannedLaunch], int, int]:
    """The launches of a session that are still to be done, in their order; how many are done; how many have failed
    and are left alone (none with `retry_failed`)."""
    done = target.store.cells_done(target.study, target.tag, target.session)
    order = plan.order(target.session)
    good = sum(done.get(launch.key, False) for launch in order)
    failed = sum(not done.get(launch.key, True) for launch in order)
    if retry_failed:
        return [launch for launch in order if not done.get(launch.key, False)], good, 0
    return [launch for launch in order if launch.key not in done], good, failed


class Runner:
    """Runs launches one by one and records each."""

    def __init__(self, plan: Plan, target: Target, launcher: Launcher, bench: str, progress: Progress) -> None:
        self.plan = plan
        self.target = target
        self.launcher = launcher
        self.bench = bench
        self.progress = progress

    def run(self, launches: Iterable[PlannedLaunch], signals: Signals, summary: Summary) -> None:
        """Runs and records `launches`, filling `summary` as it goes. Raises Interrupted when a signal comes: then the
        launch at hand is ended and not recorded, and all before it are."""
        for launch in launches:
            signals.check()
            self.progress.begin(launch)
            outcome = self.one(launch, signals)
            summary.outcomes.append(outcome)
            self.progress.end(outcome)

    def one(self, launch: PlannedLaunch, signals: Signals) -> Outcome:
        cell = launch.cell
        command = self.launcher.command(cell, self.program(launch))
        started = dt.datetime.now(dt.UTC)
        result = run_child(
            command.argv,
            {**os.environ, **command.environment},
            cell.amounts.timeout_seconds,
            signals,
            self.progress.tick,
        )
        lines, stray = _records(cell, result)
        failure, skipped = _judge(cell, result, lines)
        stderr_tail = [*(f"on stdout: {line}" for line in stray[-5:]), *result.stderr_tail]
        if result.exit_status and stderr_tail:
            stderr_tail.append(telling_line(stderr_tail))  # readers show the last line
        envelope = self.envelope(launch, command, result) | {
            "started": started.isoformat(timespec="milliseconds"),
            "stderr_tail": stderr_tail,
            "exit_status": result.exit_status,
        }
        self.target.store.write_launch(envelope, lines)
        return Outcome(launch, result.seconds, failure, skipped)

    def program(self, launch: PlannedLaunch) -> list[str]:
        """The program with its options, before a launcher is put in front."""
        if launch.cell.external is not None:
            return self.external_program(launch.cell)
        return [self.bench, *launch.cell.options(self.plan.seed_of(launch.launch_index))]

    @staticmethod
    def external_program(cell: Cell) -> list[str]:
        """Somebody else's command line, its placeholders filled."""
        command = cell.external.command if cell.external else ()
        return [_filled(argument, cell.between) for argument in command]

    def envelope(self, launch: PlannedLaunch, command: Command, result: ChildResult) -> dict[str, Any]:
        cell = launch.cell
        source = "longshore-bench" if cell.external is None else f"import {cell.external.format}"
        return {
            "record": "study",
            "schema": 1,
            "study": self.target.study,
            "tag": self.target.tag,
            "session": self.target.session,
            "cell": cell.factors,
            "cell_id": cell.cell_id,
            "launch_index": launch.launch_index,
            "position": launch.position,
            "within": cell.within,
            "command": command.argv,
            "environment": command.environment,
            "launcher": self.launcher.name,
            "binding": command.binding,
            "seconds": round(result.seconds, 6),
            "timed_out": result.timed_out,
            "signal": result.signal_name,
            "source": source,
            "study_file": {"path": self.plan.study.path, "digest": self.plan.study.digest},
            "margin": self.plan.study.margin,
            "bound": self.plan.study.bound,
        }


def _records(cell: Cell, result: ChildResult) -> tuple[list[str], list[str]]:
    """The record lines of what a program printed, and the other lines: MPI libraries print warnings to stdout."""
    if cell.external is not None:
        return _imported(cell, result), []
    lines = [line for line in result.output.splitlines() if line.strip()]
    return (
        [line for line in lines if line.startswith(_RECORD_START)],
        [line[:500] for line in lines if not line.startswith(_RECORD_START)],
    )


def _imported(cell: Cell, result: ChildResult) -> list[str]:
    raise LongshoreError(f"[[external]] {cell.program}: format not available")


def _judge(cell: Cell, result: ChildResult, lines: list[str]) -> tuple[str | None, str | None]:
    """(why this is no measurement, why nothing could run here): at most one of them."""
    kinds = [_kind(line) for line in lines]
    if result.exit_status == NOTHING_COULD_RUN and "end" in kinds:
        reasons = [json.loads(line).get("skipped") for line, kind in zip(lines, kinds, strict=True) if kind == "result"]
        if reasons and all(reasons):
            return None, str(reasons[0])
    last = f": {telling_line(result.stderr_tail)}" if result.stderr_tail else ""
    failure = None
    if result.timed_out:
        failure = f"ended after {cell.amounts.timeout_seconds:g} s (timeout_seconds)"
    elif result.exit_status:
        failure = f"exit status {result.exit_status}{last}"
    elif not lines:
        failure = "it wrote no records; is this a longshore-bench?"
    elif None in kinds:
        failure = "it wrote a line that is no record"
    elif kinds[-1] != "end":
        failure = "its records are cut short (the last one is not 'end')"
    return failure, None


def telling_line(lines: list[str]) -> str:
    """The line that says what went wrong: the program's own, else ours, else the last one with words in it (launchers
    frame theirs in dashes)."""
    for start in ("longshore-bench:", "longshore"):
        for line in lines:
            if line.startswith(start):
                return line
    worded = [line for line in lines if any(mark.isalpha() for mark in line)]
    return worded[-1] if worded else lines[-1]


def _kind(line: str) -> str | None:
    """The kind of a record; samples, which are most, are not parsed for it."""
    if line.startswith('{"record":"sample"') and line.endswith("}"):
        return "sample"
    try:
        return str(json.loads(line)["record"])
    except (ValueError, KeyError, TypeError):
        return None


def _filled(argument: str, factors: Mapping[str, Any]) -> str:
    """{ranks} and the like, and nothing else of what braces may mean."""
    for name, value in factors.items():
        argument = argument.replace(f"{{{name}}}", str(value))
    return argument


def keep_study_file(plan: Plan, target: Target) -> None:
    """A copy of the study file beside its launches, so that `resume` and `status` need nothing else. Versions are kept."""
    folder = target.store.session_path(target.study, target.tag, target.session)
    path = folder / f"study-{plan.study.digest}.toml"
    if path.exists():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{path.name}.{secrets.token_hex(4)}.tmp"
        try:
            temporary.write_text(plan.study.text, encoding="utf-8")
            temporary.rename(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise LongshoreError(
            f"cannot write to {folder}: {error.strerror}; free space or choose another --store"
        ) from None


def kept_study_files(target: Target) -> list[str]:
    """The copies in a session's folder, newest first."""
    folder = target.store.session_path(target.study, target.tag, target.session)
    files = sorted(folder.glob("study-*.toml"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [str(path) for path in files]


def default_session(now: Callable[[], dt.datetime] = dt.datetime.now) -> str:
    return now().strftime("%Y-%m-%d")
