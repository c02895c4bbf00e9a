"""The store: append-only files, STORE/<study>/<tag>/<session>/<launch>.jsonl, one per launch, each
written beside its place and given its name when it is whole. No lock and no database: the store
lives on parallel file systems, where locks hang. A file that cannot be read is yielded with its
problem, never dropped."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.store import records
from longshore_study.store.records import Record, RecordError

_LONGEST_NAME = 200  # bytes; file systems allow 255, and a temporary name is longer than the final one
_NAMED = re.compile(r"([0-9a-f]{12})-(\d{3,})(?:\.\d+)?\.jsonl$")  # by write_launch, after cell and launch index
_SHORTENED = re.compile(r"~[0-9a-f]{16}$")
_NOTHING_COULD_RUN = 2  # longshore-bench: all that was asked is skipped, with reasons; that is an answer
_BRACE = ord("}")
_SAMPLE_MARKS = (
    b'"record":"sample"',
    b'"record": "sample"',
)  # cannot occur inside a JSON string, whose quotes are escaped


@dataclass(frozen=True, slots=True)
class Launch:
    """One stored launch: what was asked (the envelope), what the program said, and what is wrong
    with it."""

    study: str
    tag: str
    session: str
    cell: dict[str, Any]
    """The factors between launches: transport, ranks, environment, ..."""
    cell_id: str
    launch_index: int
    position: int | None
    """Where in the random order of its session it ran; None for imported figures."""
    path: Path
    exit_status: int | None
    header: Record | None
    """The program's `launch` record."""
    results: list[Record] = field(default_factory=list)
    samples: list[Record] = field(default_factory=list)
    """Only when asked for."""
    complete: bool = False
    """An `end` record was seen."""
    problem: str | None = None
    """Why this launch is not to be trusted, with file and line; None when nothing is wrong."""
    envelope: Record = field(default_factory=dict)

    @property
    def source(self) -> str:
        return str(self.envelope.get("source", "longshore-bench"))

    @property
    def imported(self) -> bool:
        """Imported figures are aggregates: nothing is known about their repetitions."""
        return self.source.startswith("import")


class Store:
    """The launches under one folder; the folder need not exist before the first write."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def session_path(self, study: str, tag: str, session: str) -> Path:
        return self.path / folder_name(study, "study") / folder_name(tag, "tag") / folder_name(session, "session")

    def write_launch(self, envelope: Mapping[str, Any], lines: Iterable[str]) -> Path:
        """Stores one launch whole or not at all, and returns its file.

        The envelope needs study, tag, session and cell; `record`, `schema`, `cell_id` and
        `launch_index` are filled in when absent; `bound`, `guidelines` and `margin` of a study file
        go along, so that `compare` and `guidelines` need no study file. The file is named after
        `launch_id`, else after cell and launch index. A launch that is already stored with the same
        content is not stored again; a different one (a repeated launch) gets a name of its own.
        """
        head: dict[str, Any] = {
            "record": "study",
            "schema": records.SCHEMA,
            "cell_id": cell_id(envelope.get("cell", {})),
            "launch_index": 0,
        }
        head.update(envelope)
        records.check(head, "envelope")
        folder = self.session_path(head["study"], head["tag"], head["session"])
        text = "".join(line.rstrip("\n") + "\n" for line in (records.dump(head), *lines))
        # A byte of a name that is no UTF-8 becomes the escape that JSON has for it, and is read
        # back as the same name.
        content = text.encode("utf-8", "backslashreplace")
        stem = folder_name(str(head.get("launch_id") or f"{head['cell_id']}-{head['launch_index']:03d}"), "launch_id")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return _write_beside_and_rename(folder, stem, content)
        except OSError as error:
            raise LongshoreError(
                f"cannot store a launch in {folder}: {error.strerror}; free space or choose another --store"
            ) from None

    def launches(
        self, study: str | None = None, tag: str | None = None, session: str | None = None, *, samples: bool = False
    ) -> Iterator[Launch]:
        """The stored launches in the order of their names, of one study, tag or session where
        given.

        Sample lines are skipped unparsed unless `samples`.
        """
        for path in self._files(study, tag, session):
            yield read_launch(path, samples=samples)

    def cells_done(self, study: str, tag: str, session: str) -> dict[tuple[str, int], bool]:
        """(cell_id, launch_index) of what is stored, and whether it went well in any of its
        attempts."""
        done: dict[tuple[str, int], bool] = {}
        for launch in self.launches(study, tag, session):
            key = (launch.cell_id, launch.launch_index)
            done[key] = done.get(key, False) or launch.problem is None
        return done

    def names(self) -> list[tuple[str, str, str]]:
        """(study, tag, session) of what is stored, from the folder names; where one of them was too
        long for a folder, from a launch in it."""
        first: dict[tuple[str, ...], Path] = {}
        for path in self._files(None, None, None):
            first.setdefault(path.parent.relative_to(self.path).parts, path)
        return sorted(_names_of(folders, path) for folders, path in first.items())

    def _files(self, study: str | None, tag: str | None, session: str | None) -> Iterator[Path]:
        wanted = [
            None if name is None else folder_name(name, what)
            for name, what in ((study, "study"), (tag, "tag"), (session, "session"))
        ]
        folders = [self.path]
        for name in wanted:
            folders = [inner for folder in folders for inner in _subfolders(folder, name)]
        for folder in folders:
            names = (entry.name for entry in _entries(folder) if entry.name.endswith(".jsonl"))
            yield from (folder / name for name in sorted(names))


def folder_name(name: str, what: str) -> str:
    """A file name that is safe for any text and different for different texts."""
    if not name:
        raise UsageError(f"the {what} needs a name; it is empty")
    quoted = quote(name, safe="+=,@ ", errors="surrogateescape")
    if quoted.startswith((".", " ")):
        quoted = f"%{ord(quoted[0]):02X}{quoted[1:]}"
    if len(quoted) > _LONGEST_NAME:
        digest = hashlib.sha256(quoted.encode()).hexdigest()[:16]
        quoted = f"{quoted[: _LONGEST_NAME - 20]}~{digest}"
    return quoted


def name_of(folder: str) -> str:
    """The text of which folder_name made this one, unless that was too long."""
    return unquote(folder, errors="surrogateescape")


def _names_of(folders: tuple[str, ...], path: Path) -> tuple[str, str, str]:
    if any(_SHORTENED.search(folder) for folder in folders):
        launch = read_launch(path)
        return launch.study, launch.tag, launch.session
    study, tag, session = map(name_of, folders)
    return study, tag, session


def cell_id(cell: Mapping[str, Any]) -> str:
    """A short name of a cell, the same wherever and whenever its factors are the same."""
    import json  # noqa: PLC0415 - with sorted keys; records.dump keeps the order given

    text = json.dumps(cell, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def read_launch(path: Path, *, samples: bool = False) -> Launch:
    """One stored file. What is wrong with it is its `problem`; what can be read of it is still
    there."""
    session_folder = path.parent
    names = [name_of(folder.name) for folder in (session_folder.parent.parent, session_folder.parent, session_folder)]
    try:
        content = path.read_bytes()
    except OSError as error:
        return _unreadable(path, names, f"{path}: cannot be read ({error.strerror})")
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    try:
        envelope = records.parse(lines[0] if lines else b"", path, 1)
        if envelope["record"] != "study":
            raise RecordError(f"{path}:1: the first record must be 'study', found '{envelope['record']}'")
    except RecordError as error:
        return _unreadable(path, names, str(error))
    body = _Body()
    try:
        body.read(lines, path, samples=samples)
    except RecordError as error:
        body.problem = str(error)
    exit_status = envelope.get("exit_status")
    return Launch(
        study=envelope["study"],
        tag=envelope["tag"],
        session=envelope["session"],
        cell=_shared(envelope["cell"]),
        cell_id=str(envelope.get("cell_id") or cell_id(envelope["cell"])),
        launch_index=int(envelope.get("launch_index") or 0),
        position=envelope.get("position"),
        path=path,
        exit_status=exit_status,
        header=body.header,
        results=body.results,
        samples=body.samples,
        complete=body.end is not None,
        problem=_first_problem(path, len(lines), envelope, body),
        envelope=envelope,
    )


class _Body:
    """The program's records of one file, as far as they could be read."""

    def __init__(self) -> None:
        self.header: Record | None = None
        self.results: list[Record] = []
        self.samples: list[Record] = []
        self.end: Record | None = None
        self.problem: str | None = None

    def read(self, lines: list[bytes], path: Path, *, samples: bool) -> None:
        numbered = enumerate(lines) if samples else _without_samples(lines)
        wanted = [(number, line) for number, line in numbered if number and line]
        for record in records.parse_lines(wanted, path):
            kind = record["record"]
            if kind == "result":
                record["variant"] = _shared(record["variant"])
                self.results.append(record)
            elif kind == "sample":
                record["variant"] = _shared(record["variant"])
                self.samples.append(record)
            elif kind == "launch":
                self.header = record
            elif kind == "end":
                self.end = record


_seen: dict[str, dict[str, Any]] = {}
_MOST_SEEN = 100_000


def _shared(factors: dict[str, Any]) -> dict[str, Any]:
    """The factors of an earlier record where they are the same: a store has few variants and many
    launches.

    The texts are compared, since 1, 1.0 and true are equal and not the same factor. Nobody changes
    what is shared.
    """
    if len(_seen) > _MOST_SEEN:
        _seen.clear()
    return _seen.setdefault(repr(factors), factors)


def _without_samples(lines: list[bytes]) -> list[tuple[int, bytes]]:
    """Numbered lines but for the whole samples among them; one that is cut off is kept, to be found
    unreadable.

    Samples are nine lines of ten, so this is what the time of `show` goes into.
    """
    compact, spaced = _SAMPLE_MARKS
    kept = [(n, line) for n, line in enumerate(lines) if compact not in line or line[-1] != _BRACE]
    return [(n, line) for n, line in kept if spaced not in line or line[-1] != _BRACE]


def _first_problem(path: Path, line_count: int, envelope: Record, body: _Body) -> str | None:
    exit_status = envelope.get("exit_status")
    nothing_could_run = exit_status == _NOTHING_COULD_RUN and body.end and all(r.get("skipped") for r in body.results)
    if exit_status and not nothing_could_run:
        tail = envelope.get("stderr_tail") or []
        last = f": {str(tail[-1]).strip()}" if tail else ""
        return f"{path}: failed with exit status {exit_status}{last}"
    if body.problem:
        return body.problem
    if body.end is None:
        return f"{path}:{line_count}: truncated (no 'end' record follows)"
    if body.end["status"] != "ok":
        error = body.end.get("error")
        why = f": {error['message']}" if isinstance(error, dict) and "message" in error else ""
        return f"{path}:{line_count}: ended with status '{body.end['status']}'{why}"
    return None


def _unreadable(path: Path, names: list[str], problem: str) -> Launch:
    study, tag, session = names
    # Its name still says which launch it was to be.
    named = _NAMED.match(path.name)
    cell, index = (named[1], int(named[2])) if named else (path.stem, 0)
    return Launch(
        study=study, tag=tag, session=session, cell={}, cell_id=cell, launch_index=index, position=None, path=path,
        exit_status=None, header=None, problem=problem,
    )  # fmt: skip


def _subfolders(folder: Path, name: str | None) -> list[Path]:
    if name is not None:
        return [folder / name] if (folder / name).is_dir() else []
    return [folder / name for name in sorted(entry.name for entry in _entries(folder) if entry.is_dir())]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """All but what is being written; nothing where there is no folder yet."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LongshoreError(f"{folder}: cannot be read ({error.strerror}); --store DIR names a folder") from None


def whereabouts() -> str:
    """Where the number of a process is its own: containers may share a host name, and not their
    numbers."""
    try:
        space = f"-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        space = ""
    return os.uname().nodename.replace(".", "_") + space


def _take_name(temporary: Path, path: Path) -> bool:
    """Gives a finished file its name, unless there is a file of that name: no process replaces what
    another stored."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError:  # a file system without hard links
        if path.exists():
            return False
        temporary.rename(path)
    return True


def _write_beside_and_rename(folder: Path, stem: str, content: bytes) -> Path:
    path = folder / f"{stem}.jsonl"
    attempt = 1
    while path.exists():
        if path.read_bytes() == content:
            return path
        attempt += 1
        path = folder / f"{stem}.{attempt}.jsonl"
    temporary = folder / f".{stem[:100]}.{whereabouts()}.{os.getpid()}.tmp"
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        while not _take_name(temporary, path):  # another process has stored a launch of this name in this moment
            attempt += 1
            path = folder / f"{stem}.{attempt}.jsonl"
    finally:
        temporary.unlink(missing_ok=True)
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)  # the rename itself must survive a crash
    finally:
        os.close(directory)
    return path
