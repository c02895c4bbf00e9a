"""The store: one file per launch, STORE/<study>/<tag>/<session>/<launch>.jsonl.

Files are never changed. A launch is written to a temporary file, which is renamed when complete.
There are no locks and no database, since locks hang on parallel file systems. An unreadable file
is returned with its problem, never dropped."""

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
_NAMED = re.compile(r"([0-9a-f]{12})-(\d{3,})(?:\.\d+)?\.jsonl$")  # write_launch: cell and launch index
_SHORTENED = re.compile(r"~[0-9a-f]{16}$")
_NOTHING_COULD_RUN = 2  # status of longshore-bench when it skipped every variant; the reasons are results
_BRACE = ord("}")
_SAMPLE_MARKS = (
    b'"record":"sample"',
    b'"record": "sample"',
)  # cannot occur inside a JSON string, whose quotes are escaped


@dataclass(frozen=True, slots=True)
class Launch:
    """One stored launch: the request (the envelope), the records of the program, and the problem if
    there is one."""

    study: str
    tag: str
    session: str
    cell: dict[str, Any]
    """The factors that vary between launches: transport, ranks, environment, ..."""
    cell_id: str
    launch_index: int
    position: int | None
    """Place in the random order of its session. None for imported launches."""
    path: Path
    exit_status: int | None
    header: Record | None
    """The program's `launch` record."""
    results: list[Record] = field(default_factory=list)
    samples: list[Record] = field(default_factory=list)
    """Empty unless requested."""
    complete: bool = False
    """Whether an `end` record was read."""
    problem: str | None = None
    """Why this launch cannot be trusted, with file and line. None if it can."""
    envelope: Record = field(default_factory=dict)

    @property
    def source(self) -> str:
        return str(self.envelope.get("source", "longshore-bench"))

    @property
    def imported(self) -> bool:
        """Imported values are aggregates. Their repetitions are unknown."""
        return self.source.startswith("import")


class Store:
    """The launches in one folder. The folder need not exist before the first write."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def session_path(self, study: str, tag: str, session: str) -> Path:
        return self.path / folder_name(study, "study") / folder_name(tag, "tag") / folder_name(session, "session")

    def write_launch(self, envelope: Mapping[str, Any], lines: Iterable[str]) -> Path:
        """Stores one launch completely or not at all. Returns its file.

        The envelope must have study, tag, session and cell. `record`, `schema`, `cell_id` and
        `launch_index` get defaults. `bound`, `guidelines` and `margin` of the study file are stored
        as well, so that `compare` and `guidelines` need no study file. The name of the file is
        `launch_id` if given, else cell and launch index. A launch with the same name and content is
        not stored again. A launch with other content (a repeated launch) gets a new name.
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
        # Bytes of names that are not UTF-8 become JSON escapes, which are read back as the same
        # name.
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
        """The stored launches in the order of their file names. Arguments restrict the study, tag
        and session.

        Sample lines are skipped unparsed unless `samples`.
        """
        for path in self._files(study, tag, session):
            yield read_launch(path, samples=samples)

    def cells_done(self, study: str, tag: str, session: str) -> dict[tuple[str, int], bool]:
        """The stored (cell_id, launch_index), each with whether any attempt succeeded."""
        done: dict[tuple[str, int], bool] = {}
        for launch in self.launches(study, tag, session):
            key = (launch.cell_id, launch.launch_index)
            done[key] = done.get(key, False) or launch.problem is None
        return done

    def names(self) -> list[tuple[str, str, str]]:
        """The stored (study, tag, session), from folder names, or from a launch where a name was
        too long for a folder."""
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
    """A safe file name for any text. Different texts get different names."""
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
    """The text for which folder_name made this name. Not valid for shortened names."""
    return unquote(folder, errors="surrogateescape")


def _names_of(folders: tuple[str, ...], path: Path) -> tuple[str, str, str]:
    if any(_SHORTENED.search(folder) for folder in folders):
        launch = read_launch(path)
        return launch.study, launch.tag, launch.session
    study, tag, session = map(name_of, folders)
    return study, tag, session


def cell_id(cell: Mapping[str, Any]) -> str:
    """A short identifier of a cell that depends on its factors only."""
    import json  # noqa: PLC0415 - with sorted keys; records.dump keeps the order given

    text = json.dumps(cell, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def read_launch(path: Path, *, samples: bool = False) -> Launch:
    """Reads one stored file. `problem` describes an error; readable records are still returned."""
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
        cell=_deduplicated(envelope["cell"]),
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
    """The records of the program in one file, as far as they are readable."""

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
                record["variant"] = _deduplicated(record["variant"])
                self.results.append(record)
            elif kind == "sample":
                record["variant"] = _deduplicated(record["variant"])
                self.samples.append(record)
            elif kind == "launch":
                self.header = record
            elif kind == "end":
                self.end = record


_seen: dict[str, dict[str, Any]] = {}
_MOST_SEEN = 100_000


def _deduplicated(factors: dict[str, Any]) -> dict[str, Any]:
    """The first object with equal factors, to save memory: a store has few variants in many
    launches.

    The key is a text, since 1, 1.0 and true are equal but different factors. Callers must not
    change the result.
    """
    if len(_seen) > _MOST_SEEN:
        _seen.clear()
    return _seen.setdefault(repr(factors), factors)


def _without_samples(lines: list[bytes]) -> list[tuple[int, bytes]]:
    """The numbered lines without samples. A truncated sample stays, so that it is reported.

    Nine of ten lines are samples, so this dominates the time of `show`.
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
    # The file name still tells cell and launch index.
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
    """The entries without temporary files. Empty if the folder does not exist."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise LongshoreError(f"{folder}: cannot be read ({error.strerror}); name a folder with --store DIR") from None


def process_namespace() -> str:
    """Identifies the host and its process namespace, in which a process number is unique.
    Containers may share a host name but not process numbers."""
    try:
        space = f"-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        space = ""
    return os.uname().nodename.replace(".", "_") + space


def _rename_unless_taken(temporary: Path, path: Path) -> bool:
    """Renames a finished file unless `path` exists. So no process replaces a stored launch."""
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
    temporary = folder / f".{stem[:100]}.{process_namespace()}.{os.getpid()}.tmp"
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        while not _rename_unless_taken(temporary, path):  # another process stored this name just now
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
