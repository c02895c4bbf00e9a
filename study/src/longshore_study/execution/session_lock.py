"""The lock file of a session, which tells other processes that a `longshore run` works on the
session.

File locks are not used, because they hang on parallel file systems. The lock file of a dead process
is ignored. A process of the same machine is looked up in /proc. A process of another machine proves
that it lives by heartbeats: it touches its lock file. Two processes in one session would lose no
data, because each launch has its own file, which no other process can replace.
"""

import glob
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from longshore_study.base.errors import LongshoreError
from longshore_study.store.launch_store import process_namespace

_HEARTBEAT_SECONDS = 20.0
_DEAD_AFTER_SECONDS = 120.0
_POLL_SECONDS = 5.0
_TRIES = 4


@dataclass
class SessionLock:
    file: Path
    last_heartbeat: float = 0.0

    def heartbeat(self) -> None:
        """Touches the lock file every 20 seconds. The runner calls this every second."""
        if time.monotonic() - self.last_heartbeat >= _HEARTBEAT_SECONDS:
            self.last_heartbeat = time.monotonic()
            with suppress(OSError):
                os.utime(self.file)


@dataclass(frozen=True)
class _Other:
    """The lock of another process."""

    message: str
    file: Path
    heartbeat: float
    expires_in_seconds: float | None
    """None for a process of this machine, which lives. Others may be dead."""


@contextmanager
def session_lock(folder: Path, session: str, part: str = "", *, wait: bool = False) -> Iterator[SessionLock]:
    """A context in which the session is locked. Raises LongshoreError if another process has locked
    the session.

    Different parts of a session (launches on 4 nodes, launches on 16) can be locked at the same
    time. Lock files of killed processes are removed. If `wait` is set, waits until processes on
    other machines send a heartbeat or their locks expire. This matters when a job restarts: if its
    node died, the lock file of the dead process is still recent.
    """
    try:
        if wait:
            _wait_for_heartbeats(folder, session, part)
        file = _take(folder, session, part)
    except OSError as error:
        raise LongshoreError(
            f"cannot write to {folder}: {error.strerror}; check its permissions, or choose another --store"
        ) from None
    try:
        yield SessionLock(file, time.monotonic())
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _wait_for_heartbeats(folder: Path, session: str, part: str) -> None:
    """Waits until locks of other machines have expired. Raises LongshoreError for a live one."""
    heartbeats: dict[Path, float] = {}
    while other := _other(folder, session, part):
        left = other.expires_in_seconds
        if left is None or heartbeats.get(other.file, other.heartbeat) != other.heartbeat:
            raise LongshoreError(other.message)
        if not heartbeats:
            print(f"longshore: {other.message}; waiting for another heartbeat", file=sys.stderr, flush=True)
        heartbeats[other.file] = other.heartbeat
        time.sleep(min(_POLL_SECONDS, max(0.1, left)))


def own_file(folder: Path, purpose: str) -> Path:
    """A hidden file of this process in the folder of a session."""
    return folder / f".{purpose}.{process_namespace()}.{os.getpid()}.tmp"


def _take(folder: Path, session: str, part: str) -> Path:
    for path in folder.glob(f".*.{glob.escape(process_namespace())}.*.tmp"):
        if not _is_longshore(path.name.split(".")[-2]):  # the file of a killed process
            path.unlink(missing_ok=True)
    file = own_file(folder, "running")
    for left in reversed(range(_TRIES)):
        if other := _other(folder, session, part):
            raise LongshoreError(other.message)
        file.write_text(json.dumps({"host": os.uname().nodename, "pid": os.getpid(), "part": part}), encoding="utf-8")
        # Another process may have written its lock file at the same moment. Then both processes
        # withdraw, and try again at different times.
        other = _other(folder, session, part)
        if other is None:
            break
        file.unlink(missing_ok=True)
        if not left:
            raise LongshoreError(other.message)
        time.sleep(random.uniform(0.02, 0.3))  # noqa: S311 - not for security
    return file


def _other(folder: Path, session: str, part: str) -> _Other | None:
    """A lock of another process on the same part of the session. None if there is none."""
    for path in folder.glob(".running.*.tmp"):
        if path == own_file(folder, "running"):
            continue
        try:
            content = json.loads(path.read_text(encoding="utf-8") or "{}")
            heartbeat = path.stat().st_mtime
            age = _now(folder) - heartbeat
        except (OSError, ValueError):
            continue  # the file was removed, or is being written; the second check of _take finds it
        content = content if isinstance(content, dict) else {}
        same_machine = path.name.startswith(f".running.{process_namespace()}.")
        # After a clock was set back, the age can be negative, so its absolute value counts.
        alive = _is_longshore(path.name.split(".")[-2]) if same_machine else abs(age) < _DEAD_AFTER_SECONDS
        if not alive or (part and content.get("part") and content.get("part") != part):
            continue
        where = "" if same_machine else f" on {content.get('host', 'another machine')}"
        last = "" if same_machine else f" (heartbeat {max(0, round(age))} s ago; it counts for 2 min)"
        message = (
            f"session {session} is being run by process {content.get('pid', path.name.split('.')[-2])}{where}{last}; "
            "wait for it, or name another --session"
        )
        return _Other(message, path, heartbeat, None if same_machine else _DEAD_AFTER_SECONDS - age)
    return None


def _now(folder: Path) -> float:
    """The time by the clock of the file system, which may differ from the clock of this machine."""
    probe = own_file(folder, "clock")
    try:
        probe.touch()
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _is_longshore(process_id: str) -> bool:
    """Whether the process lives and runs longshore; its number may belong to another one now."""
    try:
        return b"longshore" in Path("/proc", process_id, "cmdline").read_bytes()
    except OSError:
        return False
