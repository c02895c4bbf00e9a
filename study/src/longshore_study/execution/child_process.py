"""Runs a program until it ends, its time limit passes, or the user interrupts it. All processes of
the program are ended.

The program gets its own POSIX session (setsid). Ctrl-C in the terminal therefore reaches only
longshore, which then ends the program. The session also identifies every process that the program
started, even ranks that a launcher put into other process groups.
"""

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

_GRACE_SECONDS = 3.0  # between SIGTERM and SIGKILL
_TICK_SECONDS = 1.0  # between calls of `tick`; longshore sleeps meanwhile, so it does not disturb the measurement
_TAIL_BYTES = 16384
MAX_OUTPUT_BYTES = 64 * 2**20
"""The limit for stdout and for stderr. More output is an error, because it could fill the disk."""
_PR_SET_PDEATHSIG = 1  # linux/prctl.h


@dataclass(frozen=True)
class ChildResult:
    exit_status: int
    """As in a shell: 128 + signal, 124 after the time limit, 125 too much output, 127 no start."""
    seconds: float
    output: str
    """stdout, up to MAX_OUTPUT_BYTES."""
    stderr_tail: list[str]
    errors: str = ""
    """stderr, up to MAX_OUTPUT_BYTES. Some programs print their results on stderr."""
    timed_out: bool = False
    signal_name: str | None = None


class Interrupted(Exception):  # noqa: N818 - a decision of the user, not an error
    """The user or the batch system has stopped the study with a signal."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number = signal_number

    @property
    def exit_status(self) -> int:
        return 128 + self.signal_number


class Signals:
    """A context in which SIGINT, SIGTERM and SIGHUP are remembered and raise nothing, so that no
    signal interrupts the writing of a record. SIGCHLD wakes `wait`.

    If SIGHUP was ignored (nohup), it stays ignored. SIGINT is always handled: shells ignore SIGINT
    in programs that a script starts in the background, but kill -INT must stop longshore.

    If a signal was received, longshore ends after the context. Later signals are then ignored,
    because they would only change the exit status."""

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
        """Raises Interrupted if a signal was received."""
        if self.received is not None:
            raise Interrupted(self.received)

    def wait(self, seconds: float) -> None:
        """Sleeps until a signal is received, for at most `seconds`."""
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
    """Runs a program to its end, with `tick` every second. A signal ends it with Interrupted."""
    # Unlike a pipe, an unnamed file does not fill up. The file vanishes with this process.
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
                preexec_fn=_end_with(os.getpid()),  # noqa: PLW1509 - no threads here, it only calls prctl
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
        # The program may have printed more since the last check. Truncated output is not usable.
        too_much = too_much or (not timed_out and _too_much(output, errors))
        result = ChildResult(process.returncode, seconds, _text(output), _tail(errors), _text(errors))
        return _explained(result, limit_seconds=timeout_seconds if timed_out else None, too_much=too_much)


def _explained(result: ChildResult, *, limit_seconds: float | None, too_much: bool) -> ChildResult:
    """The result with the exit status of a shell. If longshore or a signal ended the program, the
    last line of `stderr_tail` says so."""
    tail, code = result.stderr_tail, result.exit_status
    if limit_seconds is not None:
        line = f"longshore: ended after {limit_seconds:g} s (timeout_seconds)"
        return replace(result, exit_status=124, stderr_tail=[*tail, line], timed_out=True)
    if too_much:
        line = f"longshore: ended because it printed more than {MAX_OUTPUT_BYTES >> 20} MiB"
        return replace(result, exit_status=125, stderr_tail=[*tail, line])
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        line = f"longshore: the program was ended by {name}"
        return replace(result, exit_status=128 - code, stderr_tail=[*tail, line], signal_name=name)
    return result


def end_session(process: subprocess.Popen[bytes]) -> None:
    """Ends the rest of the program's session: SIGTERM, a short wait, SIGKILL."""
    session = process.pid
    if process.poll() is None:
        # The launcher gets the first signal, because it ends its ranks, also on other nodes.
        _signal(session, signal.SIGTERM)
        deadline = time.monotonic() + _GRACE_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
    living = members_of_session(session)
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process_id in living:
            _signal(process_id, number)
        deadline = time.monotonic() + _GRACE_SECONDS / 3
        while living and time.monotonic() < deadline:
            process.poll()  # a dead child stays in the process table until it is polled
            living = members_of_session(session)
            if living:
                time.sleep(0.02)
        if not living:
            break
    process.wait()


def members_of_session(session: int) -> list[int]:
    """The living processes of a session, from /proc. Empty without /proc."""
    living = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # The format is: pid (command) state ppid pgrp session ... The command can contain
            # spaces and parentheses.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            continue
        if len(fields) > 3 and int(fields[3]) == session and fields[0] not in (b"Z", b"X"):
            living.append(int(folder.name))
    return living


def _signal(process_id: int, number: int) -> None:
    try:
        os.kill(process_id, number)
    except OSError:
        return


def _end_with(parent: int) -> Callable[[], None]:
    """A function that the child calls before exec. The child then gets SIGTERM when longshore dies,
    even by kill -9."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # longshore died after the fork
            os._exit(125)

    return prepare


def _too_much(*files: IO[bytes]) -> bool:
    return any(os.fstat(file.fileno()).st_size > MAX_OUTPUT_BYTES for file in files)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace")


def _tail(file: IO[bytes]) -> list[str]:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL_BYTES))
    lines = file.read().decode("utf-8", "replace").splitlines()
    return [line.rstrip()[:500] for line in lines if line.strip()][-30:]
