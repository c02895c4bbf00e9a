"""What lies in a session's folder besides launches: a copy of the study file, and the records of
the launch at hand."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from longshore_study.base.errors import LongshoreError
from longshore_study.planning.plan import Plan
from longshore_study.store.launch_store import Store, process_namespace


@dataclass(frozen=True)
class Target:
    """Where launches are stored."""

    store: Store
    study: str
    tag: str
    session: str

    @property
    def folder(self) -> Path:
        return self.store.session_path(self.study, self.tag, self.session)


def scratch_file(target: Target) -> Path:
    """A name, hidden from readers of the store, for the records of the launch at hand: on the
    store's file system, which the node that runs rank 0 sees too."""
    return (target.folder / f".launch.{process_namespace()}.{os.getpid()}.tmp").absolute()


def keep_study_file(plan: Plan, target: Target) -> None:
    """A copy of the study file beside its launches: `resume` and `status` need nothing else.
    Versions are kept."""
    folder = target.folder
    path = folder / f"study-{plan.study.digest}.toml"
    if path.exists():
        with suppress(OSError):
            path.touch()  # of an earlier version that is taken up again: it is the one to go on with
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{path.name}-{secrets.token_hex(4)}.{process_namespace()}.{os.getpid()}.tmp"
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
    folder = target.folder
    files = sorted(folder.glob("study-*.toml"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [str(path) for path in files]
