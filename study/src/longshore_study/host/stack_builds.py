"""Builds of longshore-bench, one per communication stack. The file STACKS/<name>/stack.json names
the program, the launcher and the environment that belong together. The folder STACKS, which all
nodes of a cluster must share, is LONGSHORE_STACKS, else ~/.local/share/longshore/stacks."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from longshore_study.base.errors import LongshoreError, UsageError, suggestion
from longshore_study.host.bench_program import BENCH
from longshore_study.host.stacks import MPI, Stack, with_paths

_SHOWN_LINES = 3
# The colon after `error` excludes file names that the build prints, such as error.cpp.
_ERROR_LINE = re.compile(r"CMake Error|\berror:|undefined reference", re.IGNORECASE)
# Other targets need more from an MPI than longshore-bench, such as Fortran modules.
_ONLY_BENCH = (
    "-DLONGSHORE_BENCH=ON", "-DLONGSHORE_C=OFF", "-DLONGSHORE_FORTRAN=OFF", "-DLONGSHORE_TESTS=OFF",
    "-DLONGSHORE_EXAMPLES=OFF",
)  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A longshore-bench that was built with one MPI, and what its launches need: the content of
    stack.json."""

    name: str
    """The name of the stack when it was built, and of its folder."""
    bench: str
    mpirun: str
    environment: dict[str, str] = field(default_factory=dict)
    """The variables that the stack needs, without search paths."""
    paths: dict[str, list[str]] = field(default_factory=dict)
    """Folders to put in front of search paths, by variable."""
    version: str = ""

    @property
    def launch_environment(self) -> dict[str, str]:
        """The variables of a launch: `environment`, and `paths` before the search paths."""
        return with_paths(self.environment, self.paths)


def stacks_home() -> Path:
    given = os.environ.get("LONGSHORE_STACKS")
    if given:
        return Path(given).absolute()
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "longshore" / "stacks"


def builds() -> list[Build]:
    """All builds. An unreadable stack.json is ignored."""
    return [build for path in sorted(stacks_home().glob("*/stack.json")) if (build := _read(path)) is not None]


def with_unique_names(found: Iterable[Stack]) -> list[Stack]:
    """The stacks, renamed so that no build replaces a build of another installation. An MPI with a
    build (same launcher and version) gets the name of that build. Any other stack keeps its name,
    unless a build or an earlier stack has this name; then a number follows."""
    built = {(os.path.realpath(build.mpirun), build.version): build.name for build in builds()}
    taken = set(built.values())
    named = []
    for stack in found:
        name = built.get((os.path.realpath(stack.launcher), stack.version)) if stack.what == MPI else None
        if name is None:
            numbered = (f"{stack.name}-{number}" for number in itertools.count(2))
            name = next(name for name in itertools.chain([stack.name], numbered) if name not in taken)
        taken.add(name)
        named.append(replace(stack, name=name))
    return named


def find_build(name: str) -> Build:
    known = {build.name: build for build in builds()}
    if name not in known:
        built = f"built: {', '.join(known)}" if known else "none is built yet"
        raise UsageError(
            f"stack '{name}' has no longshore-bench in {stacks_home()}{suggestion(name, known)} ({built}); "
            f"'longshore stacks' lists the stacks of this machine, 'longshore stacks build {name}' builds one"
        )
    build = known[name]
    for path in (build.bench, build.mpirun):
        if not os.access(path, os.X_OK):
            raise LongshoreError(f"{path} of stack '{name}' is missing; build it with 'longshore stacks build {name}'")
    return build


def _read(path: Path) -> Build | None:
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return Build(**{known.name: stored[known.name] for known in fields(Build) if stored.get(known.name)})
    except (OSError, ValueError, AttributeError, TypeError):
        return None


def find_source(asked_for: str | None = None) -> Path:
    """The source tree: `asked_for`, else the tree around this file or the current folder."""
    if asked_for is not None:
        if not _is_source(Path(asked_for)):
            raise UsageError(
                f"--source {asked_for}: not a source tree of Longshore (no CMakeLists.txt with project(longshore))"
            )
        return Path(asked_for).absolute()
    for folder in (*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents):
        if _is_source(folder):
            return folder
    raise LongshoreError(
        "building needs the source tree of Longshore, which is neither around this program nor around the current "
        "folder; name it with --source DIR"
    )


def _is_source(folder: Path) -> bool:
    try:
        text = (folder / "CMakeLists.txt").read_text(encoding="utf-8", errors="replace").lower()
    except OSError:
        return False
    return "project(longshore" in text.replace(" ", "").replace("\n", "")


def build_stack(stack: Stack, source: Path, *, jobs: int, verbose: bool = False) -> Build:
    """Builds longshore-bench with the stack's compiler, runs it once, and writes stack.json."""
    if stack.compiler is None:
        raise LongshoreError(
            f"stack '{stack.name}' has no mpicxx beside {stack.launcher}; install its development files"
        )
    if shutil.which("cmake") is None:
        raise LongshoreError("building needs cmake, which was not found; 'make setup' installs it")
    home = stacks_home() / stack.name
    folder, log = home / "build", home / "build.log"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    environment = {**os.environ, **with_paths(stack.environment, stack.paths)}
    configure = [
        "cmake", "-S", str(source), "-B", str(folder), *generator, "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release",
        f"-DMPI_CXX_COMPILER={stack.compiler}", f"-DMPIEXEC_EXECUTABLE={stack.launcher}", *_ONLY_BENCH,
    ]  # fmt: skip
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A cache of an earlier build may still point to another MPI.
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        _run(configure, environment, log, verbose=verbose)
        _run(["cmake", "--build", str(folder), "--target", BENCH, "-j", str(jobs)], environment, log, verbose=verbose)
        program = next((p for p in (folder / "bench" / BENCH, folder / BENCH) if p.is_file()), None)
        if program is None:
            raise LongshoreError(f"the build made no {BENCH} in {folder}; see {log}")
        build = Build(stack.name, str(program), stack.launcher, stack.environment, stack.paths, stack.version)
        _try_out(build)
        # Renaming makes stack.json appear at once, and only for a program that runs.
        temporary = home / ".stack.json.tmp"
        temporary.write_text(json.dumps(asdict(build), indent=1), encoding="utf-8")
        temporary.rename(home / "stack.json")
    except OSError as error:
        # _run and _try_out report programs that do not start, so this error comes from a file.
        path = error.filename or stacks_home()
        raise LongshoreError(
            f"cannot write {path}: {error.strerror}; name another folder with LONGSHORE_STACKS"
        ) from None
    return build


def _run(argv: list[str], environment: dict[str, str], log: Path, *, verbose: bool) -> None:
    """Runs a step of the build, with output in `log`, or on the terminal. Raises LongshoreError."""
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(argv)}\n")
        file.flush()
        out = sys.stderr if verbose else file
        try:
            result = subprocess.run(  # noqa: S603
                argv, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
            )
        except OSError as error:
            raise LongshoreError(f"cannot start {argv[0]}: {error.strerror}") from None
    if result.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        raise LongshoreError(f"'{' '.join(argv[:2])}' failed: {_first_error(lines)}; see {log}")


def _first_error(lines: list[str]) -> str:
    """The first line with an error and those that describe it, or else the end of the log."""
    error = next((index for index, line in enumerate(lines) if _ERROR_LINE.search(line)), None)
    first = max(0, len(lines) - _SHOWN_LINES) if error is None else error
    shown = [" ".join(line.split()) for line in lines[first:] if line.strip()][:_SHOWN_LINES]
    return " ".join(shown) or "no output"


def _try_out(build: Build) -> None:
    """Raises LongshoreError if the program does not start or was built without MPI. A program does
    not start if, for instance, the loader finds a library of another MPI first."""
    argv = [build.bench, "--list"]
    try:
        result = subprocess.run(  # noqa: S603
            argv, env={**os.environ, **build.launch_environment}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False, timeout=60,
        )  # fmt: skip
        listing = json.loads(result.stdout)
        transports = [t["name"] for t in listing["transports"] if t["available"]]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise LongshoreError(f"{build.bench} was built but does not run: {error}") from None
    if "mpi" not in transports:
        raise LongshoreError(f"{build.bench} was built without MPI ({', '.join(transports)}); see the log beside it")
