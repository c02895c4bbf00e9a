"""Running a session of a study: what is not yet recorded, in the plan's random order, one launch after the other.

A launch is recorded whole (envelope and the program's records, one file) or not at all; one that failed is recorded as
failed, and the study goes on. Whatever stops a session - Ctrl-C, kill -9, a full disk - it goes on from there when the
same command is typed again.
"""

from __future__ import annotations

import datetime as dt
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from longshore_study.child import ChildResult, Signals, run_child
from longshore_study.errors import LongshoreError
from longshore_study.launchers import Command, Launcher
from longshore_study.plan import Cell, Plan, PlannedLaunch
from longshore_study.session_folder import Target, scratch_file
from longshore_study.study import External

EXIT_LAUNCH_FAILED = 1
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
        # Not through stdout: a launcher mixes what several ranks print there, also in the middle of a line.
        written = scratch_file(self.target)
        command = self.launcher.command(cell, program_of(self.plan, launch, self.bench, str(written)))
        started = dt.datetime.now(dt.UTC)
        try:
            result = run_child(
                command.argv,
                {**os.environ, **command.environment},
                cell.amounts.timeout_seconds,
                signals,
                self.progress.tick,
            )
            lines, unreadable = _imported(cell.external, result) if cell.external else (_lines(written), None)
        finally:
            written.unlink(missing_ok=True)
        failure, skipped = _judge(cell, result, lines)
        failure = unreadable if unreadable and not result.exit_status else failure
        tail = result.stderr_tail or result.output.splitlines()[-10:]
        if result.exit_status and tail:
            told = telling_line(tail)
            tail = tail if tail[-1] == told else [*tail, told]  # readers show the last line
        envelope = self.envelope(launch, command, result) | {
            "started": started.isoformat(timespec="milliseconds"),
            "stderr_tail": tail,
            "exit_status": result.exit_status,
        }
        self.target.store.write_launch(envelope, lines)
        return Outcome(launch, result.seconds, failure, skipped)

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


def program_of(plan: Plan, launch: PlannedLaunch, bench: str, json_file: str = "-") -> list[str]:
    """The program of a launch with its options, before a launcher is put in front."""
    cell = launch.cell
    if cell.external is not None:
        return [_filled(argument, cell.between) for argument in cell.external.command]
    return [bench, *cell.options(plan.seed_of(launch.launch_index), json_file)]


def _lines(path: Path) -> list[str]:
    """What the program wrote, as far as it came; nothing when it did not get that far."""
    try:
        return [line for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    except FileNotFoundError:
        return []


def _imported(external: External, result: ChildResult) -> tuple[list[str], str | None]:
    """The records in what somebody else's program printed, or why there are none."""
    from longshore_study import importers  # noqa: PLC0415 - few studies need them

    try:
        runs = importers.read_text(external.format, external.name, result.output)
    except LongshoreError as error:
        return [], str(error)
    if len(runs) != 1 or runs[0].partial:
        return [], (runs[0].partial if runs else None) or f"its output holds {len(runs)} runs; one launch is one run"
    return runs[0].lines, None


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
    elif kinds[-1] is None and "end" not in kinds:
        failure = "its records are cut short (the last line is not complete)"
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


def default_session(now: Callable[[], dt.datetime] = dt.datetime.now) -> str:
    return now().strftime("%Y-%m-%d")
