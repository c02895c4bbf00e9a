"""The folder of a session, with copies of study files beside the launches."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from longshore_study.base.errors import LongshoreError
from longshore_study.planning.plan import Plan
from longshore_study.store.launch_store import Launch, Store, name_of
from longshore_study.store.whole_file import write_whole
from longshore_study.study_file.machine_reader import copy_name


@dataclass(frozen=True)
class Target:
    """Identifies a session in the store."""

    store: Store
    study: str
    tag: str
    session: str

    @property
    def folder(self) -> Path:
        return self.store.session_path(self.study, self.tag, self.session)

    @property
    def label(self) -> str:
        return f"{self.study}, tag {self.tag}, session {self.session}"

    def launches(self) -> Iterator[Launch]:
        return self.store.launches(self.study, self.tag, self.session)


def store_study_file(plan: Plan, target: Target) -> None:
    """Stores copies of the study file and of its machine files beside the launches, for `resume`
    and `status`. Copies of earlier versions of the study file stay."""
    folder = target.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for machine in plan.study.machines:
            copy = folder / copy_name(machine.given)
            text = Path(machine.path).read_text(encoding="utf-8")
            if not copy.exists() or copy.read_text(encoding="utf-8") != text:
                write_whole(copy, text)
        path = folder / f"study-{plan.study.digest}.toml"
        if not path.exists():
            write_whole(path, plan.study.text)
        with suppress(OSError):
            path.touch()  # `resume` uses the newest copy
    except OSError as error:
        reason = f"cannot write to {folder}: {error.strerror}; free space or choose another --store"
        raise LongshoreError(reason) from None


def stored_study_files(target: Target) -> list[str]:
    folder = target.folder
    files = sorted(folder.glob("study-*.toml"), key=lambda path: path.stat().st_mtime, reverse=True)
    return [str(path) for path in files]


def started_sessions(store: Store) -> list[Target]:
    """Every session, even one that was stopped before its first launch ended."""
    names = store.names()
    folders = {store.session_path(*triple) for triple in names}
    started = {path.parent for path in store.path.glob("*/*/*/study-*.toml")} - folders
    more = (tuple(name_of(part) for part in folder.relative_to(store.path).parts) for folder in started)
    return [Target(store, *triple) for triple in sorted({*names, *((a, b, c) for a, b, c in more)})]
