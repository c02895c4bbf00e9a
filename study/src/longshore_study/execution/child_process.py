"""One program, run until it ends, until its time is up, or until the user has had enough; and
nothing of it left.

The program gets a session of its own (setsid). Ctrl-C in the terminal then reaches longshore alone,
which ends the program in order; and everything that the program started, also ranks that a launcher
has put into process groups of their own, can be found by the session and ended.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import IO, Any, Self

_GRACE_SECONDS = 3.0  # between asking to end and ending
_TICK_SECONDS = 1.0  # of the progress display; a sleeping parent does not disturb what is measured
_TAIL_BYTES = 16384
MOST_OUTPUT_BYTES = 64 * 2**20  # of stdout and of stderr; a program that prints more has gone wrong, and fills a disk
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class ChildResult:
    """How a program ended and what it said."""

    exit_status: int
    """As a shell has it: 128 + signal when a signal ended it, 124 when its time was up, 127 when it
    did not start."""
    seconds: float
    output: str
    """Of stdout, up to MOST_OUTPUT_BYTES."""
    stderr_tail: list[str]
    errors: str = ""
    """Of stderr, up to MOST_OUTPUT_BYTES: some programs print their figures there."""
    timed_out: bool = False
    signal_name: str | None = None


class Interrupted(Exception):  # noqa: N818 - a decision of the user, not an error
    """The user, or the batch system, wants the study to stop."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number = signal_number

    @property
    def exit_status(self) -> int:
        return 128 + self.signal_number


class Signals:
    """While entered: SIGINT, SIGTERM and SIGHUP are remembered, not raised, so that they cannot cut
    a launch's record in two; and the end of a child wakes `wait`. A SIGHUP that was ignored before
    stays so (nohup); a SIGINT does not, since shells ignore it for whatever a script starts in the
    background, and kill -INT is meant then.

    Once one has come the program is on its way to its end, and says so; one more would only spoil
    its exit status. So they are ignored from then on."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._wakeup_before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        stopping = self.received is not None
        for number, handler in self._before.items():
            signal.signal(number, signal.SIG_IGN if stopping and number != signal.SIGCHLD else handler)
        signal.set_wakeup_fd(self._wakeup_before)
        os.close(self._read)
        os.close(self._write)

    def _remember(self, number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGCHLD:
            self.received = self.received or number

    def check(self) -> None:
        """Raises Interrupted when a signal has come."""
        if self.received is not None:
            raise Interrupted(self.received)

    def wait(self, seconds: float) -> None:
        """Sleeps until a signal comes, at most so long."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._read, selectors.EVENT_READ)
            if selector.select(max(0.0, seconds)):
                os.read(self._read, 4096)


def run_child(
    argv: Sequence[str],
    environment: Mapping[str, str],
    timeout_seconds: float,
    signals: Signals,
    tick: Callable[[], None] = lambda: None,
) -> ChildResult:
    """Runs a program to its end. Raises Interrupted, with everything of the program ended, when a
    signal comes."""
    # Files without a name: they cannot fill up like pipes, and vanish with us whatever happens.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        try:
            process = subprocess.Popen(  # noqa: S603 - the program of the study file, as a list, without a shell
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=dict(environment),
                start_new_session=True,
                preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509 - no threads here, and it only calls prctl
            )
        except OSError as error:
            reason = f"{argv[0]} cannot be started: {error.strerror}"
            return ChildResult(127, 0.0, "", [reason])
        timed_out = too_much = False
        try:
            while process.poll() is None:
                signals.check()
                too_much = _too_much(output, errors)
                if too_much:
                    break
                left = timeout_seconds - (time.monotonic() - started)
                if left <= 0:
                    timed_out = True
                    break
                signals.wait(min(left, _TICK_SECONDS))
                tick()
        finally:
            seconds = time.monotonic() - started
            end_session(process)
        # It may have printed most of it, and ended, since we looked last; what is cut short is no
        # output.
        too_much = too_much or (not timed_out and _too_much(output, errors))
        result = ChildResult(process.returncode, seconds, _text(output), _tail(errors), _text(errors))
        return _explained(result, limit_seconds=timeout_seconds if timed_out else None, too_much=too_much)


def _explained(result: ChildResult, *, limit_seconds: float | None, too_much: bool) -> ChildResult:
    """The result with the exit status of a shell, and a last line of our own where we, or a signal,
    ended it."""
    tail, code = result.stderr_tail, result.exit_status
    if limit_seconds is not None:
        said = f"longshore: ended after {limit_seconds:g} s (timeout_seconds)"
        return replace(result, exit_status=124, stderr_tail=[*tail, said], timed_out=True)
    if too_much:
        said = f"longshore: given up because it printed more than {MOST_OUTPUT_BYTES >> 20} MiB"
        return replace(result, exit_status=125, stderr_tail=[*tail, said])
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        said = f"longshore: the program was ended by {name}"
        return replace(result, exit_status=128 - code, stderr_tail=[*tail, said], signal_name=name)
    return result


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Asks all that is left of the program's session to end, waits a little, then ends it."""
    session = process.pid
    if process.poll() is None:
        # A launcher that is asked ends its ranks itself, and tells those on other nodes; so it is
        # asked first, alone.
        _signal(session, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    left = members_of_session(session)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for member in left:
            _signal(member, number)
        deadline = time.monotonic() + _GRACE_SECONDS / 3
        while left and time.monotonic() < deadline:
            process.poll()  # a dead child stays in the table until somebody looks
            left = members_of_session(session)
            if left:
                time.sleep(0.02)
        if not left:
            break
    process.wait()


def members_of_session(session: int) -> list[int]:
    """The living processes of a session, from /proc; where there is none, its leader's group
    only."""
    found = []
    try:
        names = [path.name for path in Path("/proc").iterdir() if path.name.isdigit()]
    except OSError:
        return []
    for name in names:
        try:
            # pid (command) state ppid pgrp session ...; the command may hold spaces and parentheses
            fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 3 and int(fields[3]) == session and fields[0] not in (b"Z", b"X"):
            found.append(int(name))
    return found


def _signal(process_id: int, number: int) -> None:
    try:
        os.kill(process_id, number)
    except OSError:
        return


def _end_with(parent: int) -> Callable[[], None] | None:
    """A function for the child, before exec: be asked to end when longshore dies, also by kill -9
    (Linux only)."""
    try:
        prctl = ctypes.CDLL(None, use_errno=True).prctl
    except (OSError, AttributeError):
        return None

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # it died between fork and here
            os._exit(125)

    return prepare


def _too_much(*files: IO[bytes]) -> bool:
    return any(os.fstat(file.fileno()).st_size > MOST_OUTPUT_BYTES for file in files)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MOST_OUTPUT_BYTES).decode("utf-8", "replace")


def _tail(file: IO[bytes]) -> list[str]:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL_BYTES))
    lines = file.read().decode("utf-8", "replace").splitlines()
    return [line.rstrip()[:500] for line in lines if line.strip()][-30:]
