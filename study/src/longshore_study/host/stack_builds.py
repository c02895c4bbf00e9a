"""Builds of longshore-bench, one per communication stack. STACKS/<name>/stack.json names the
program, the launcher and the environment that belong together. STACKS is LONGSHORE_STACKS, else
~/.local/share/longshore/stacks, which the nodes of a cluster must share."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longshore_study.base.errors import LongshoreError, UsageError, suggestion
from longshore_study.host.bench_program import BENCH
from longshore_study.host.stacks import MPI, Stack, with_paths

_SHOWN_LINES = 3
_ERROR_LINE = re.compile(
    r"CMake Error|\berror:|[Uu]ndefined reference", re.IGNORECASE
)  # `error:` with the colon: the build prints the file name error.cpp
# The other targets need more of an MPI than longshore-bench does, such as Fortran modules for this
# compiler.
_NOTHING_BUT_BENCH = (
    "-DLONGSHORE_BENCH=ON", "-DLONGSHORE_C=OFF", "-DLONGSHORE_FORTRAN=OFF", "-DLONGSHORE_TESTS=OFF",
    "-DLONGSHORE_EXAMPLES=OFF",
)  # fmt: skip


@dataclass(frozen=True)
class Build:
    """A build of longshore-bench and its environment."""

    name: str
    bench: str
    mpirun: str
    own_environment: dict[str, str] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    version: str = ""

    @property
    def environment(self) -> dict[str, str]:
        """The variables to add to the current environment or to replace in it."""
        return with_paths(self.own_environment, self.paths)

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name, "bench": self.bench, "mpirun": self.mpirun, "environment": self.own_environment,
            "paths": self.paths, "version": self.version,
        }  # fmt: skip


def stacks_home() -> Path:
    given = os.environ.get("LONGSHORE_STACKS")
    if given:
        return Path(given).absolute()
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return Path(data) / "longshore" / "stacks"


def builds() -> list[Build]:
    """All builds. An unreadable stack.json is ignored."""
    return [build for path in sorted(stacks_home().glob("*/stack.json")) if (build := _read(path)) is not None]


def keep_names(found: Iterable[Stack]) -> list[Stack]:
    """The stacks with unique names. An installation keeps the name of its build. Another one of the
    same version, or one upgraded in place, gets a new name, so that it does not replace a build."""
    built = {(os.path.realpath(build.mpirun), build.version): build.name for build in builds()}
    taken = set(built.values())
    kept = []
    for stack in found:
        name = built.get((os.path.realpath(stack.launcher), stack.version)) if stack.what == MPI else stack.name
        if name is None:
            name = next(one for k in itertools.count(1) if (one := _numbered(stack.name, k)) not in taken)
        taken.add(name)
        kept.append(replace(stack, name=name))
    return kept


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def find_build(name: str) -> Build:
    known = {build.name: build for build in builds()}
    if name not in known:
        have = f"built: {', '.join(known)}" if known else "none is built yet"
        raise UsageError(
            f"stack '{name}' has no longshore-bench in {stacks_home()}{suggestion(name, known)} ({have}); "
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
        own = {str(key): str(value) for key, value in dict(stored.get("environment") or {}).items()}
        paths = {str(key): [str(folder) for folder in value] for key, value in dict(stored.get("paths") or {}).items()}
        name, bench, mpirun = (str(stored[key]) for key in ("name", "bench", "mpirun"))
        return Build(name, bench, mpirun, own, paths, str(stored.get("version", "")))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def find_source(asked_for: str | None = None) -> Path:
    """The source tree of Longshore: `asked_for`, else around this file or the current folder."""
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
    """Configures and builds longshore-bench with the stack's compiler wrapper, runs it once, and
    writes stack.json."""
    try:
        return _build_stack(stack, source, jobs=jobs, verbose=verbose)
    except OSError as error:
        place = error.filename or stacks_home()
        raise LongshoreError(
            f"cannot write {place}: {error.strerror}; name another folder with LONGSHORE_STACKS"
        ) from None


def _build_stack(stack: Stack, source: Path, *, jobs: int, verbose: bool) -> Build:
    if stack.compiler is None:
        raise LongshoreError(
            f"stack '{stack.name}' has no mpicxx beside {stack.launcher}; install its development files"
        )
    for tool in ("cmake",):
        if shutil.which(tool) is None:
            raise LongshoreError(f"building needs {tool}, which was not found; 'make setup' installs it")
    place = stacks_home() / stack.name
    folder = place / "build"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    environment = {**os.environ, **with_paths(stack.environment, stack.paths)}
    configure = [
        "cmake", "-S", str(source), "-B", str(folder), *generator, "-Wno-dev", "-DCMAKE_BUILD_TYPE=Release",
        f"-DMPI_CXX_COMPILER={stack.compiler}", f"-DMPIEXEC_EXECUTABLE={stack.launcher}", *_NOTHING_BUT_BENCH,
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    # CMake's cache may still point to another MPI.
    (folder / "CMakeCache.txt").unlink(missing_ok=True)
    log = place / "build.log"
    log.unlink(missing_ok=True)
    _run(configure, environment, log, verbose=verbose)
    _run(["cmake", "--build", str(folder), "--target", BENCH, "-j", str(jobs)], environment, log, verbose=verbose)
    program = next((p for p in (folder / "bench" / BENCH, folder / BENCH) if p.is_file()), None)
    if program is None:
        raise LongshoreError(f"the build made no {BENCH} in {folder}; see {log}")
    build = Build(stack.name, str(program), stack.launcher, stack.environment, stack.paths, stack.version)
    _try_out(build)
    (place / ".stack.json.tmp").write_text(json.dumps(build.as_json(), indent=1), encoding="utf-8")
    (place / ".stack.json.tmp").rename(place / "stack.json")
    return build


def _run(argv: list[str], environment: dict[str, str], log: Path, *, verbose: bool) -> None:
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(argv)}\n")
        file.flush()
        out = sys.stderr if verbose else file
        done = subprocess.run(argv, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)  # noqa: S603
    if done.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        raise LongshoreError(f"'{' '.join(argv[:2])}' failed: {_first_error(lines)}; see {log}")


def _first_error(lines: list[str]) -> str:
    """The first line with an error and the lines after it, where CMake describes the error."""
    error = next((place for place, line in enumerate(lines) if _ERROR_LINE.search(line)), None)
    first = max(0, len(lines) - _SHOWN_LINES) if error is None else error
    shown = [" ".join(line.split()) for line in lines[first:] if line.strip()][:_SHOWN_LINES]
    return " ".join(shown) or "no output"


def _try_out(build: Build) -> None:
    """Runs the program. It may not start, for instance if a library of another MPI comes first."""
    argv = [build.bench, "--list"]
    try:
        done = subprocess.run(  # noqa: S603
            argv, env={**os.environ, **build.environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip
        listing = json.loads(done.stdout)
        offered = [t["name"] for t in listing["transports"] if t["available"]]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError) as error:
        raise LongshoreError(f"{build.bench} was built but does not run: {error}") from None
    if "mpi" not in offered:
        raise LongshoreError(f"{build.bench} was built without MPI ({', '.join(offered)}); see the log beside it")
