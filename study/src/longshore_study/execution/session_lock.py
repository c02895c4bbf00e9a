"""The mark that says who works on a session.

It is no lock, since locks hang on parallel file systems: it tells a second `longshore run` that
there is a first one. One that was left by a process that is gone means nothing. A process of this
machine is looked up; one of another machine gives a sign of life by touching its mark. Were both to
fail, nothing would be lost: each launch has a file of its own that no other can replace.
"""

from __future__ import annotations

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

_BEAT_SECONDS = 20.0
_DEAD_AFTER_SECONDS = 120.0
_LOOK_SECONDS = 5.0
_TRIES = 4


@dataclass
class Claim:
    """A session, or a part of it, that this process works on."""

    mark: Path
    beaten: float = 0.0

    def beat(self) -> None:
        """A sign of life, at most every so often; cheap enough for every second."""
        if time.monotonic() - self.beaten >= _BEAT_SECONDS:
            self.beaten = time.monotonic()
            with suppress(OSError):
                os.utime(self.mark)


class _SilentMarkError(LongshoreError):
    """A mark of another machine that may be dead: it has given no sign of life since it was first
    seen."""

    def __init__(self, message: str, mark: Path, sign: float, left_seconds: float) -> None:
        super().__init__(message)
        self.mark = mark
        self.sign = sign
        self.left_seconds = left_seconds


@contextmanager
def claimed(folder: Path, session: str, part: str = "", *, wait: bool = False) -> Iterator[Claim]:
    """Marks a session as being worked on while entered; raises LongshoreError when somebody else
    works on it.

    Different parts of a session (launches on 4 nodes, launches on 16) may be worked on at once.
    What an earlier run left behind when it was ended by kill -9 is removed. With `wait`, a mark of
    another machine is given the time to prove that it lives: a job that begins again at once, after
    its node has died, finds a mark that is not yet old.
    """
    try:
        if wait:
            _wait_for_signs_of_life(folder, session, part)
        mark = _take(folder, session, part)
    except OSError as error:
        raise LongshoreError(
            f"cannot write to {folder}: {error.strerror}; may you write there? else choose another --store"
        ) from None
    try:
        yield Claim(mark, time.monotonic())
    finally:
        with suppress(OSError):
            mark.unlink(missing_ok=True)


def _wait_for_signs_of_life(folder: Path, session: str, part: str) -> None:
    """Returns when no mark of another machine counts any more; raises LongshoreError when one gives
    a sign of life."""
    mine = _mark(folder)
    signs: dict[Path, float] = {}
    while True:
        try:
            _refuse_others(folder, mine, session, part)
            return
        except _SilentMarkError as busy:
            if signs.get(busy.mark, busy.sign) != busy.sign:
                raise
            if not signs:
                print(f"longshore: {busy}; waiting whether it gives another", file=sys.stderr, flush=True)
            signs[busy.mark] = busy.sign
            time.sleep(min(_LOOK_SECONDS, max(0.1, busy.left_seconds)))


def _mark(folder: Path) -> Path:
    return folder / f".running.{process_namespace()}.{os.getpid()}.tmp"


def _take(folder: Path, session: str, part: str) -> Path:
    _clean(folder)
    mark = _mark(folder)
    for left in reversed(range(_TRIES)):
        _refuse_others(folder, mark, session, part)
        mark.write_text(json.dumps({"host": os.uname().nodename, "pid": os.getpid(), "part": part}), encoding="utf-8")
        try:
            # Two that start in the same moment both come here: both step back, and one comes first
            # the next time.
            _refuse_others(folder, mark, session, part)
            break
        except LongshoreError:
            mark.unlink(missing_ok=True)
            if not left:
                raise
            time.sleep(random.uniform(0.02, 0.3))  # noqa: S311 - to fall out of step
    return mark


def _clean(folder: Path) -> None:
    """Removes scratch files and marks of processes of this machine that are gone."""
    for path in folder.glob(f".*.{glob.escape(process_namespace())}.*.tmp"):
        if not _is_longshore(path.name.split(".")[-2]):
            path.unlink(missing_ok=True)


def _refuse_others(folder: Path, mine: Path, session: str, part: str) -> None:
    for path in folder.glob(".running.*.tmp"):
        if path == mine:
            continue
        try:
            told = json.loads(path.read_text(encoding="utf-8") or "{}")
            sign = path.stat().st_mtime
            age = _now(folder) - sign
        except (OSError, ValueError):
            continue  # it has gone, or is being written; the second look finds it
        told = told if isinstance(told, dict) else {}
        same_machine = path.name.startswith(f".running.{process_namespace()}.")
        # A mark of the future is of before a clock was set back; one that lives is touched again
        # within seconds.
        alive = _is_longshore(path.name.split(".")[-2]) if same_machine else abs(age) < _DEAD_AFTER_SECONDS
        if not alive or (part and told.get("part") and told.get("part") != part):
            continue
        where = "" if same_machine else f" on {told.get('host', 'another machine')}"
        life = "" if same_machine else f" (sign of life {max(0, round(age))} s ago; it counts for 2 min)"
        message = (
            f"session {session} is being run by process {told.get('pid', path.name.split('.')[-2])}{where}{life}; "
            "wait for it, or name another --session"
        )
        raise (
            LongshoreError(message)
            if same_machine
            else _SilentMarkError(message, path, sign, _DEAD_AFTER_SECONDS - age)
        )


def _now(folder: Path) -> float:
    """The time of the file system, whose clock may not be ours."""
    probe = folder / f".clock.{process_namespace()}.{os.getpid()}.tmp"
    try:
        probe.touch()
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _is_longshore(process_id: str) -> bool:
    """Whether a process lives and is one of ours: numbers of processes are used again."""
    try:
        return b"longshore" in Path("/proc", process_id, "cmdline").read_bytes()
    except OSError:
        return False
