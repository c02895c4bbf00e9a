"""Runs the launches of a session that are not yet recorded. session.py calls it.

A launch is recorded completely (envelope and records of the program, in one file) or not at all. If
a launch fails, it is recorded as failed, and the session continues. After any stop (a full disk,
Ctrl-C, kill -9), the same command continues the session."""

import datetime as dt
import json
import math
import os
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.base.json_values import attributes
from longshore_study.execution.child_process import ChildResult, Signals, run_child
from longshore_study.execution.external_output import imported_lines
from longshore_study.execution.launch_resolver import LaunchResolver
from longshore_study.execution.launchers import Command
from longshore_study.execution.progress import LineProgress, Outcome
from longshore_study.execution.session_folder import Target
from longshore_study.execution.session_lock import SessionLock, own_file
from longshore_study.planning.plan import Cell, Plan, PlannedLaunch
from longshore_study.store import records
from longshore_study.store.asked_and_found import difference
from longshore_study.study_file import environment_variables

EXIT_LAUNCH_FAILED = 1
_FRAME = re.compile(r"\s*-{20,}\s*")
_MIN_FREE_BYTES = 64 * 2**10
MAX_RECORD_BYTES = 512 * 2**20  # of one launch, whose records are held in memory


@dataclass
class Summary:
    planned: int = 0
    recorded_before: int = 0
    failed_before: int = 0
    """Launches that failed in an earlier run and are not repeated."""
    outcomes: list[Outcome] = field(default_factory=list)
    left: int = 0
    """Launches that did not run because the session was stopped."""

    @property
    def failures(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.failure]

    @property
    def exit_status(self) -> int:
        return EXIT_LAUNCH_FAILED if self.failures or self.failed_before else 0


def remaining(plan: Plan, target: Target, *, retry_failed: bool = False) -> tuple[list[PlannedLaunch], int, int]:
    """The remaining launches of a session in their order, the number of launches that succeeded,
    and the number of failed launches that are not repeated (0 with `retry_failed`)."""
    succeeded = target.store.cells_done(target.study, target.tag, target.session)
    order = plan.order(target.session)
    success_count = sum(succeeded.get(launch.key, False) for launch in order)
    failure_count = sum(not succeeded.get(launch.key, True) for launch in order)
    if retry_failed:
        return [launch for launch in order if not succeeded.get(launch.key, False)], success_count, 0
    return [launch for launch in order if launch.key not in succeeded], success_count, failure_count


class OutOfTime(Exception):  # noqa: N818 - a plan, not an error
    """The time limit of this run is reached. A launch that was running is not recorded."""


@dataclass(frozen=True)
class StateRun:
    """One state in a session: its plan, where its launches are stored, and how they start."""

    plan: Plan
    target: Target
    resolver: LaunchResolver
    launches: list[PlannedLaunch]
    """The launches that are not recorded."""
    summary: Summary


@dataclass(frozen=True)
class Runner:
    """Runs and records the launches of a state."""

    state: StateRun
    progress: LineProgress
    locks: Sequence[SessionLock]
    """The locks of the session, which stay alive during a launch."""
    provenance: str | None
    deadline: float = math.inf
    """A value of time.monotonic()."""

    def run(self, launch: PlannedLaunch, signals: Signals) -> None:
        """Raises Interrupted on a signal, and OutOfTime at the deadline or if the launch, of known
        duration, would end later. In both cases the launch is not recorded."""
        signals.check()
        estimate = self.progress.estimate
        expected = estimate.seconds(launch.cell) if estimate.knows(launch.cell) else 0.0
        if self.deadline - time.monotonic() <= expected:
            raise OutOfTime
        self.progress.begin(launch)
        outcome = self._outcome(launch, signals)
        self.state.summary.outcomes.append(outcome)
        self.progress.end(outcome)

    def _outcome(self, launch: PlannedLaunch, signals: Signals) -> Outcome:
        folder, resolver = self.state.target.folder, self.state.resolver
        cell = launch.cell
        # Records are written to a file, because launchers mix the stdout of several ranks, even
        # within a line. The file is in the store, because rank 0 must be able to write it from its
        # node.
        written = own_file(folder, "launch").absolute()
        command = resolver.command(launch, str(written))
        started = dt.datetime.now(dt.UTC)
        limit = max(0.0, min(cell.launch_settings.timeout_seconds, self.deadline - time.monotonic()))
        try:
            result = run_child(
                command.argv, environment_variables.apply(os.environ, command.environment), limit, signals, self._tick
            )
            if result.timed_out and limit < cell.launch_settings.timeout_seconds:
                raise OutOfTime
            if cell.external:
                program = resolver.program(launch, str(written))
                lines, unreadable = imported_lines(cell.external, cell.between, program, result, written)
            else:
                lines, unreadable = _lines(written)
            disk = shutil.disk_usage(folder)
            is_full = disk.total > 0 and disk.free < _MIN_FREE_BYTES  # some file systems report a size of 0
        finally:
            written.unlink(missing_ok=True)
        failure, skipped = _judge(cell, result, lines)
        if unreadable and not result.exit_status:
            failure = unreadable
            lines = [records.dump(records.end_record("failed") | {"error": {"message": unreadable}})]
        if failure and is_full:
            # The launch is not recorded, so it will be repeated when there is space.
            raise LongshoreError(f"{folder}: a launch failed because no space is left; free some space")
        tail = result.stderr_tail or result.output.splitlines()[-10:]
        if result.exit_status and tail:
            reason = error_line(tail)
            tail = tail if tail[-1] == reason else [*tail, reason]  # status and report show the last line
        envelope = self._envelope(launch, command, result) | {
            "started": started.isoformat(timespec="milliseconds"),
            "stderr_tail": tail,
            "exit_status": result.exit_status,
        }
        self.state.target.store.write_launch(envelope, lines)
        return Outcome(launch, result.seconds, failure, skipped)

    def _tick(self) -> None:
        for lock in self.locks:
            lock.heartbeat()
        self.progress.tick()

    def _envelope(self, launch: PlannedLaunch, command: Command, result: ChildResult) -> dict[str, Any]:
        cell, study = launch.cell, self.state.plan.study
        source = "longshore-bench" if cell.external is None else f"import {cell.external.format}"
        return {
            "record": "study",
            "schema": 1,
            **attributes(self.state.target, "study tag session"),
            "cell": cell.factors,
            "cell_id": cell.cell_id,
            **attributes(launch, "launch_index position"),
            "within": cell.within,
            "command": command.argv,
            "environment": command.environment,
            "launcher": self.state.resolver.configuration_of(cell).launcher.name,
            "binding": command.binding,
            "seconds": round(result.seconds, 6),
            "timed_out": result.timed_out,
            "signal": result.signal_name,
            "source": source,
            "study_file": {"path": study.path, "digest": study.digest},
            "margin": study.margin,
            "bound": study.bound,
            "provenance": self.provenance,
        }


def _lines(path: Path) -> tuple[list[str], str | None]:
    """The lines that the program wrote, and the reason if the lines cannot be used."""
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            return [], f"its records are larger than {MAX_RECORD_BYTES >> 20} MiB; use fewer repetitions or variants"
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return [], None
    return [line for line in text.split("\n") if line.strip()], None


def _judge(cell: Cell, result: ChildResult, lines: list[str]) -> tuple[str | None, str | None]:
    """The failure, and the reason why every variant was skipped. At least one of them is None."""
    kinds = [_kind(line) for line in lines]
    if result.exit_status == records.EXIT_ALL_SKIPPED and "end" in kinds:
        reasons = [json.loads(line).get("skipped") for line, kind in zip(lines, kinds, strict=True) if kind == "result"]
        if reasons and all(reasons):
            return None, str(reasons[0])
    last = f": {error_line(result.stderr_tail)}" if result.stderr_tail else ""
    failure = None
    if result.timed_out:
        failure = f"ended after {cell.launch_settings.timeout_seconds:g} s (timeout_seconds)"
    elif result.exit_status:
        failure = f"exit status {result.exit_status}{last}"
    elif not lines:
        failure = "it wrote no records; is it a longshore-bench?"
    elif kinds[-1] is None and "end" not in kinds:
        failure = "its records are cut short (the last line is incomplete)"
    elif None in kinds:
        failure = "it wrote a line that is not a record"
    elif kinds[-1] != "end":
        failure = "its records are cut short (the last record is not 'end')"
    elif "launch" in kinds:
        failure = difference(cell.factors, json.loads(lines[kinds.index("launch")]))
    return failure, None


def error_line(lines: list[str]) -> str:
    """The line that best describes the error: the first that begins with `longshore-bench:`, else
    the first with `longshore`, else the error before or in the box of a launcher (`_framed_error`),
    else the last line with words."""
    for start in ("longshore-bench:", "longshore"):
        for line in lines:
            if line.startswith(start):
                return line
    worded = [index for index, line in enumerate(lines) if any(mark.isalpha() for mark in line)]
    if not worded:
        return lines[-1]
    return _framed_error(lines, worded) or lines[worded[-1]]


def _framed_error(lines: list[str], worded: list[int]) -> str | None:
    """The error beside boxed messages of a launcher. None if there is no box.

    A box is between two lines of dashes, of which the first may be missing. The error is the last
    line before the last box that is in no box, because the program printed this line. Without such
    a line, the error is the first sentence in the last box. `worded` has the indices of the lines
    with words.
    """
    edges = [index for index, line in enumerate(lines) if _FRAME.fullmatch(line)]
    if not edges:
        return None
    edges = [-1, *edges] if len(edges) % 2 else edges
    boxes = list(zip(edges[::2], edges[1::2], strict=True))
    boxed = {index for first, last in boxes for index in range(first, last)}
    begin, end = boxes[-1]
    of_program = [index for index in worded if index < begin and index not in boxed]
    if of_program:
        return lines[of_program[-1]]
    message = " ".join(lines[index].strip() for index in worded if begin < index < end)
    return re.split(r"(?<=[.!])\s", message, maxsplit=1)[0] or None


def _kind(line: str) -> str | None:
    """The kind of a record, or None. Samples are not parsed, because there are many."""
    if line.startswith('{"record":"sample"') and line.endswith("}"):
        return "sample"
    try:
        return str(json.loads(line)["record"])
    except (ValueError, KeyError, TypeError):
        return None
