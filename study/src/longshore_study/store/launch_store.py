"""The store: one file per launch, STORE/<study>/<tag>/<session>/<launch>.jsonl.

A launch is written to a temporary file, which is renamed when complete. Stored files are never
changed. The store has no file locks and no database, since file locks hang on parallel file
systems. An unreadable file is returned with a description of its problem, never dropped."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from longshore_study.base.errors import LongshoreError, UsageError
from longshore_study.store import records
from longshore_study.store.asked_and_found import difference
from longshore_study.store.records import EXIT_ALL_SKIPPED, Record, RecordError

_LONGEST_NAME = 200  # bytes; file systems allow 255, and a temporary name is longer than the final one
_FILE_NAME = re.compile(r"([0-9a-f]{12})-(\d{3,})(?:\.\d+)?\.jsonl$")  # cell_id and launch index
_SHORTENED = re.compile(r"~[0-9a-f]{16}$")
_BRACE = ord("}")
# A JSON string cannot contain these marks, since its quotes are escaped.
_SAMPLE_MARKS = (b'"record":"sample"', b'"record": "sample"')


@dataclass(frozen=True, slots=True)
class Launch:
    """One stored launch: the envelope with the request, and the records of the program."""

    study: str
    tag: str
    session: str
    cell: dict[str, Any]
    """The factors that vary between launches: transport, ranks, environment, ..."""
    cell_id: str
    launch_index: int
    position: int | None
    """Index in the random order of the session's launches. None for imported launches."""
    path: Path
    exit_status: int | None
    header: Record | None
    """The program's `launch` record."""
    results: list[Record] = field(default_factory=list)
    samples: list[Record] = field(default_factory=list)
    """Empty unless requested."""
    complete: bool = False
    """Whether the file has an `end` record."""
    problem: str | None = None
    """Why this launch cannot be trusted, with file and line. None for a good launch."""
    envelope: Record = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        return self.cell_id, self.launch_index

    @property
    def source(self) -> str:
        return str(self.envelope.get("source", "longshore-bench"))

    @property
    def simulated(self) -> str | None:
        """Name and version of the machine on which the launch was simulated. None if it was
        measured. A launch that failed at its start has the name without the version."""
        header = (self.header or {}).get("simulated")
        if isinstance(header, dict) and isinstance(machine := header.get("machine"), str):
            return machine
        return str(self.cell.get("machine", "?")) if self.cell.get("transport") == "simulated" else None

    @property
    def study_file(self) -> Path | None:
        """The copy of the study file beside the launch. None if there is none."""
        digest = (self.envelope.get("study_file") or {}).get("digest")
        path = self.path.parent / f"study-{digest}.toml"
        return path if digest and path.exists() else None

    @property
    def imported(self) -> bool:
        """Whether the launch was imported. Imported values are aggregates of repetitions."""
        return self.source.startswith("import")


class Store:
    """The launches in one folder. The folder need not exist before the first write."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def session_path(self, study: str, tag: str, session: str) -> Path:
        return self.path / folder_name(study, "study") / folder_name(tag, "tag") / folder_name(session, "session")

    def write_launch(self, envelope: Mapping[str, Any], lines: Iterable[str], number: int | None = None) -> Path:
        """Stores one launch completely or not at all. Returns its file.

        The envelope must have study, tag, session and cell. `record`, `schema`, `cell_id` and
        `launch_index` get defaults. `longshore run` adds `bound`, `guidelines` and `margin` of the
        study file, so that `compare` and `guidelines` need no study file. The file is named after
        `launch_id` if given, else after cell and launch index. A `number` stands before the name,
        so that launches are read in the order of their numbers. If a file with this name exists,
        the launch gets a new name, unless the content is the same; then nothing is stored.
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
        # Bytes that are not UTF-8 become JSON escapes, from which reading restores the same bytes.
        content = text.encode("utf-8", "backslashreplace")
        stem = folder_name(str(head.get("launch_id") or f"{head['cell_id']}-{head['launch_index']:03d}"), "launch_id")
        if number is not None:
            stem = f"{number:06d}-{stem}"
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
        """The stored launches of this study, tag and session, or of all if None, in the order of
        their file names. Without `samples`, lines with samples are skipped unparsed. A folder that
        cannot be read gives a launch with this problem."""
        unreadable: dict[Path, str] = {}
        for path in self._files(study, tag, session, unreadable):
            yield read_launch(path, samples=samples)
        for folder, problem in unreadable.items():
            names = [name_of(name) for name in folder.relative_to(self.path).parts]
            yield _unreadable(folder, [*names, "?", "?"][:3], problem)

    def cells_done(self, study: str, tag: str, session: str) -> dict[tuple[str, int], bool]:
        """For the (cell_id, launch_index) of each stored launch: whether any attempt succeeded."""
        done: dict[tuple[str, int], bool] = {}
        for launch in self.launches(study, tag, session):
            done[launch.key] = done.get(launch.key, False) or launch.problem is None
        return done

    def names(self) -> list[tuple[str, str, str]]:
        """The stored (study, tag, session), by folders, or by a launch if a name was too long."""
        first: dict[tuple[str, ...], Path] = {}
        for path in self._files(None, None, None, {}):
            first.setdefault(path.parent.relative_to(self.path).parts, path)
        return sorted(_names_of(folders, path) for folders, path in first.items())

    def _files(
        self, study: str | None, tag: str | None, session: str | None, unreadable: dict[Path, str]
    ) -> Iterator[Path]:
        """Adds unreadable folders below the store to `unreadable`, each with the reason."""

        def inside(folder: Path, name: str | None) -> list[Path]:
            """The folder `name`, or all folders, in this folder."""
            try:
                if name is not None:
                    return [folder / name] if (folder / name).is_dir() else []
                return [folder / entry for entry in sorted(e.name for e in _entries(folder) if e.is_dir())]
            except OSError as error:
                if folder == self.path:
                    raise LongshoreError(f"{_why(folder, error)}; name a folder with --store DIR") from None
                unreadable[folder] = _why(folder, error)
                return []

        folders = [self.path]
        for name, what in ((study, "study"), (tag, "tag"), (session, "session")):
            wanted = None if name is None else folder_name(name, what)
            folders = [found for folder in folders for found in inside(folder, wanted)]
        for folder in folders:
            try:
                names = sorted(entry.name for entry in _entries(folder) if entry.name.endswith(".jsonl"))
            except OSError as error:
                unreadable[folder] = _why(folder, error)
                continue
            yield from (folder / name for name in names)


def folder_name(name: str, what: str) -> str:
    """A safe name of a file or folder for any text. Different texts get different names."""
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
    """The inverse of folder_name. Not valid for shortened names."""
    return unquote(folder, errors="surrogateescape")


def _names_of(folders: tuple[str, ...], path: Path) -> tuple[str, str, str]:
    if any(_SHORTENED.search(folder) for folder in folders):
        launch = read_launch(path)
        return launch.study, launch.tag, launch.session
    study, tag, session = map(name_of, folders)
    return study, tag, session


def cell_id(cell: Mapping[str, Any]) -> str:
    """A short identifier of a cell that depends on its factors only."""
    text = json.dumps(cell, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def read_launch(path: Path, *, samples: bool = False) -> Launch:
    """Reads one stored file. After an error: the `problem`, and the records before it."""
    session_folder = path.parent
    names = [name_of(folder.name) for folder in (session_folder.parent.parent, session_folder.parent, session_folder)]
    try:
        content = path.read_bytes()
    except OSError as error:
        return _unreadable(path, names, _why(path, error))
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    try:
        envelope = records.parse(lines[0] if lines else b"", path, 1)
        if envelope["record"] != "study":
            raise RecordError(f"{path}:1: the first record must be 'study', found '{envelope['record']}'")
    except RecordError as error:
        return _unreadable(path, names, str(error))
    # The records of the program by their kinds, up to the first unreadable line.
    body: dict[str, list[Record]] = {kind: [] for kind in records.REQUIRED}
    problem = None
    numbered = enumerate(lines) if samples else _without_samples(lines)
    try:
        for record in records.parse_lines([(number, line) for number, line in numbered if number and line], path):
            if "variant" in record:
                record["variant"] = _deduplicated(record["variant"])
            body[record["record"]].append(record)
    except RecordError as error:
        problem = str(error)
    end = body["end"][-1] if body["end"] else None
    header = body["launch"][-1] if body["launch"] else None
    return Launch(
        study=envelope["study"],
        tag=envelope["tag"],
        session=envelope["session"],
        cell=_deduplicated(envelope["cell"]),
        cell_id=str(envelope.get("cell_id") or cell_id(envelope["cell"])),
        launch_index=int(envelope.get("launch_index") or 0),
        position=envelope.get("position"),
        path=path,
        exit_status=envelope.get("exit_status"),
        header=header,
        results=body["result"],
        samples=body["sample"],
        complete=end is not None,
        problem=_exit_problem(path, envelope, body["result"], end)
        or problem
        or _end_problem(f"{path}:{len(lines)}", end)
        or ((other := difference(envelope["cell"], header)) and f"{path}: {other}"),
        envelope=envelope,
    )


_shared_factors: dict[str, dict[str, Any]] = {}
_MAX_SHARED = 100_000


def _deduplicated(factors: dict[str, Any]) -> dict[str, Any]:
    """A shared object with equal factors. Sharing saves memory, since a store has few variants in
    many launches. Callers must not change the object.

    The key is a text, since 1, 1.0 and true are equal but different levels.
    """
    if len(_shared_factors) > _MAX_SHARED:
        _shared_factors.clear()
    return _shared_factors.setdefault(repr(factors), factors)


def _without_samples(lines: list[bytes]) -> list[tuple[int, bytes]]:
    """The numbered lines without samples. A truncated sample is kept, so that it is reported.

    Nine of ten lines are samples, so this function dominates the time of `longshore show`.
    """
    compact, spaced = _SAMPLE_MARKS
    kept = [(n, line) for n, line in enumerate(lines) if compact not in line or line[-1] != _BRACE]
    return [(n, line) for n, line in kept if spaced not in line or line[-1] != _BRACE]


def _exit_problem(path: Path, envelope: Record, results: Sequence[Record], end: Record | None) -> str | None:
    exit_status = envelope.get("exit_status")
    all_skipped = exit_status == EXIT_ALL_SKIPPED and end and all(result.get("skipped") for result in results)
    if not exit_status or all_skipped:
        return None
    tail = envelope.get("stderr_tail") or []
    last = f": {str(tail[-1]).strip()}" if tail else ""
    return f"{path}: failed with exit status {exit_status}{last}"


def _end_problem(place: str, end: Record | None) -> str | None:
    if end is None:
        return f"{place}: truncated (no 'end' record follows)"
    error = end.get("error")
    why = f": {error['message']}" if isinstance(error, dict) and "message" in error else ""
    return None if end["status"] == "ok" else f"{place}: ended with status '{end['status']}'{why}"


def _unreadable(path: Path, names: list[str], problem: str) -> Launch:
    study, tag, session = names
    match = _FILE_NAME.match(path.name)
    cell, index = (match[1], int(match[2])) if match else (path.stem, 0)
    return Launch(
        study=study, tag=tag, session=session, cell={}, cell_id=cell, launch_index=index, position=None, path=path,
        exit_status=None, header=None, problem=problem,
    )  # fmt: skip


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries of a folder, without temporary files. Raises OSError if it is unreadable."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []


def _why(path: Path, error: OSError) -> str:
    return f"{path}: cannot be read ({error.strerror})"


def process_namespace() -> str:
    """The host and its process namespace, in which process numbers are unique. Containers may share
    a host name but not process numbers."""
    try:
        space = f"-{Path('/proc/self/ns/pid').stat().st_ino}"
    except OSError:
        space = ""
    return os.uname().nodename.replace(".", "_") + space


def _rename_unless_taken(temporary: Path, path: Path) -> bool:
    """Renames a finished file unless `path` exists, so that no process replaces a stored launch.
    Returns whether it did."""
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
    temporary = folder / f".{stem[:100]}.{process_namespace()}.{os.getpid()}.tmp"
    path, attempt = folder / f"{stem}.jsonl", 1
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        while not _rename_unless_taken(temporary, path):
            if path.read_bytes() == content:
                return path
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
