"""What lies in a session's folder besides launches: a copy of the study file, the records of the launch at hand, and a
mark that says who is at work.

The mark is no lock, since locks hang on parallel file systems: it only tells a second `longshore run` that there is a
first one, and one that was left by a process that is gone means nothing.
"""

from __future__ import annotations

import glob
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from longshore_study.errors import LongshoreError
from longshore_study.plan import Plan
from longshore_study.store import Store


@dataclass(frozen=True)
class Target:
    """Where launches are stored."""

    store: Store
    study: str
    tag: str
    session: str


@contextmanager
def claimed(target: Target) -> Iterator[None]:
    """Marks the session as being run while entered; raises LongshoreError when another process of this machine runs it.
    What an earlier run left behind when it was ended by kill -9 is removed."""
    folder = target.store.session_path(target.study, target.tag, target.session)
    host = os.uname().nodename
    for path in folder.glob(f".*.{glob.escape(host)}.*.tmp"):
        process_id = path.name.split(".")[-2]
        if not _is_longshore(process_id):
            path.unlink(missing_ok=True)
        elif path.name.startswith(".running."):
            raise LongshoreError(
                f"session {target.session} is being run by process {process_id}; wait for it, or name another --session"
            )
    mark = folder / f".running.{host}.{os.getpid()}.tmp"
    try:
        mark.touch()
        yield
    finally:
        with suppress(OSError):
            mark.unlink(missing_ok=True)


def _is_longshore(process_id: str) -> bool:
    """Whether a process lives and is one of ours: numbers of processes are used again."""
    try:
        return b"longshore" in Path("/proc", process_id, "cmdline").read_bytes()
    except OSError:
        return False


def scratch_file(target: Target) -> Path:
    """A name, hidden from readers of the store, for the records of the launch at hand: on the store's file system,
    which the node that runs rank 0 sees too."""
    folder = target.store.session_path(target.study, target.tag, target.session)
    return (folder / f".launch.{os.uname().nodename}.{os.getpid()}.tmp").absolute()


def keep_study_file(plan: Plan, target: Target) -> None:
    """A copy of the study file beside its launches: `resume` and `status` need nothing else. Versions are kept."""
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
        reason = f"cannot write to {folder}: {error.strerror}; free space or choose another --store"
        raise LongshoreError(reason) from None


def kept_study_files(target: Target) -> list[str]:
    """The copies in a session's folder, newest first."""
    folder = target.store.session_path(target.study, target.tag, target.session)
    files = sorted(folder.glob("study-*.toml"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [str(path) for path in files]
