"""Finds the communication stacks of this machine: MPI, OpenSHMEM and UCX. The search covers
--search, PATH, environment variables such as MPI_HOME, and the usual folders. The version comes
from the launcher, the version of the standard from the header file."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.host.answers import output_of
from longshore_study.host.mpi import INTEL, LAUNCHER_NAMES, MPICH, OPEN_MPI, identify

MPI, SHMEM, UCX = "MPI", "OpenSHMEM", "UCX"
_LAUNCHERS = (*LAUNCHER_NAMES, "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra", "mpiexec.openmpi")
_WRAPPERS = {"mpiexec.mpich": "mpicxx.mpich", "mpirun.openmpi": "mpicxx.openmpi", "mpiexec.openmpi": "mpicxx.openmpi"}
_PREFIX_PATTERNS = (
    "/usr/lib64/openmpi*", "/usr/lib64/mpich*", "/opt/openmpi*", "/opt/mpich*", "/opt/intel/oneapi/mpi/*", "/opt/ucx*",
    "/opt/hpcx*/ompi", "/opt/cray/pe/mpich/*/ofi/*/*", "/opt/mvapich*", "/opt/sandia-openshmem*", "/usr/local",
)  # fmt: skip
_HOMES = ("MPI_HOME", "MPI_ROOT", "I_MPI_ROOT", "OMPI_HOME", "MPICH_DIR", "UCX_HOME", "OPENSHMEM_HOME")
_SHORT = {
    OPEN_MPI: ("openmpi", ("openmpi", "ompi", "hpcx")), MPICH: ("mpich", ("mpich", "mvapich")),
    INTEL: ("impi", ("impi", "intel-mpi", "intelmpi")),
}  # fmt: skip
"""The name of an MPI in the name of a stack, and words in the names of its modules."""
_MAX_MODULES = 5000


@dataclass(frozen=True)
class Stack:
    name: str
    """The name in studies and in `stacks build`."""
    what: str
    """MPI, OpenSHMEM or UCX."""
    kind: str
    version: str
    standard: str | None
    """Version of the MPI or OpenSHMEM standard."""
    launcher: str
    """Empty for UCX, which has no launcher."""
    prefix: str
    compiler: str | None = None
    modules: tuple[str, ...] = ()
    """Environment modules whose names match the stack."""
    environment: dict[str, str] = field(default_factory=dict)
    """Environment variables that programs of this stack need."""
    paths: dict[str, list[str]] = field(default_factory=dict)
    """Folders to put in front of search paths, by variable, such as LD_LIBRARY_PATH."""


def find_stacks(search: Iterable[str] = ()) -> list[Stack]:
    """All stacks without duplicates, MPI first; names may be equal (see `with_unique_names`)."""
    folders = list(dict.fromkeys(_bin_folders(search)))
    modules = available_modules()
    found = [stack for path in _programs(folders, _LAUNCHERS) if (stack := _mpi(path, modules)) is not None]
    found += [_shmem(path, modules) for path in _programs(folders, ("oshrun", "shmemrun"))]
    found += [_ucx(path, modules) for path in _programs(folders, ("ucx_info",))]
    # mpirun and mpiexec of one installation are often two scripts with the same effect.
    return [stacks[0] for stacks in grouped(found, lambda stack: (stack.what, stack.prefix, stack.name)).values()]


def _bin_folders(search: Iterable[str]) -> Iterator[Path]:
    for text in search:
        prefix = Path(text).absolute()  # since programs start in other folders
        yield from (folder for folder in (prefix / "bin", prefix) if folder.is_dir())
    yield from (Path(text) for text in os.environ.get("PATH", "").split(os.pathsep) if text)
    yield from (Path(home) / "bin" for name in _HOMES if (home := os.environ.get(name)))
    for pattern in _PREFIX_PATTERNS:
        yield from (folder / "bin" for folder in sorted(Path("/").glob(pattern.lstrip("/"))))


def _programs(folders: Iterable[Path], names: Iterable[str]) -> Iterator[Path]:
    """Each program with one of these names once, even if a folder or a program is a link."""
    seen: set[Path] = set()
    for path in (folder / name for folder in folders for name in names):
        real = path.resolve()
        if real not in seen and _is_program(path):
            seen.add(real)
            yield path


def _stack(program: Path, short: str, version: str, modules: tuple[str, ...], **more: Any) -> Stack:
    prefix = program.parent.parent
    return Stack(
        f"{short}-{version}" if version else short, version=version, prefix=str(prefix), modules=modules, **more
    )


def _mpi(launcher: Path, modules: list[str]) -> Stack | None:
    mpi = identify(str(launcher))
    if mpi is None or mpi.kind not in _SHORT:
        return None
    folder, prefix = launcher.parent, launcher.parent.parent
    wrapper = _WRAPPERS.get(launcher.name)
    compiler = _first_program(folder, [wrapper] if wrapper else ["mpicxx", "mpic++", "mpiicpc"])
    short, words = _SHORT[mpi.kind]
    version = _version_in(mpi.version)
    return _stack(
        launcher, short, version, _fitting(modules, words, version), what=MPI, kind=mpi.kind, launcher=mpi.path,
        standard=_standard(_headers(compiler, prefix), "mpi.h", "MPI_VERSION", "MPI_SUBVERSION"), compiler=compiler,
        environment=(
            {"I_MPI_ROOT": str(prefix), "FI_PROVIDER_PATH": str(prefix / "lib")} if mpi.kind == INTEL else {}
        ),
        paths=_paths(prefix),
    )  # fmt: skip


def _shmem(launcher: Path, modules: list[str]) -> Stack:
    prefix = launcher.parent.parent
    output = output_of([str(launcher), "--version"])
    compiler = _first_program(launcher.parent, ["oshc++", "oshcxx", "oshcc"])
    version = _version_in(output)
    return _stack(
        launcher, "oshmem", version, _fitting(modules, ("shmem",), version), what=SHMEM, launcher=str(launcher),
        standard=_standard(_headers(compiler, prefix), "shmem.h", "SHMEM_MAJOR_VERSION", "SHMEM_MINOR_VERSION"),
        kind=OPEN_MPI if "Open" in output else "unknown", compiler=compiler, paths=_paths(prefix),
    )  # fmt: skip


def _ucx(program: Path, modules: list[str]) -> Stack:
    output = output_of([str(program), "-v"])
    match = re.search(r"(?:version|Version:?)[ =]*(\d+\.\d+(?:\.\d+)?)", output)
    version = match[1] if match else _version_in(output)
    words = _fitting(modules, ("ucx",), version)
    return _stack(program, "ucx", version, words, what=UCX, kind=UCX, standard=None, launcher="")


def _paths(prefix: Path) -> dict[str, list[str]]:
    """Search paths for an installation. Empty if the system searches `prefix` anyway."""
    if prefix in (Path("/usr"), Path("/")):
        return {}
    libraries = [folder for folder in (prefix / "lib", prefix / "lib64", prefix / "lib" / "release") if folder.is_dir()]
    return {"PATH": [str(prefix / "bin")], "LD_LIBRARY_PATH": [str(folder) for folder in libraries]}


def with_paths(environment: Mapping[str, str], paths: Mapping[str, list[str]]) -> dict[str, str]:
    """`environment`, and the current search paths with the folders of `paths` in front."""
    current = {name: os.environ.get(name) for name in paths}
    return {
        **environment,
        **{name: os.pathsep.join(filter(None, [*new, current[name]])) for name, new in paths.items() if new},
    }


def _headers(compiler: str | None, prefix: Path) -> list[Path]:
    """Folders of header files: the folders of the compiler wrapper, then PREFIX/include."""
    options = ("-show", "--showme:compile") if compiler else ()
    words = [word for option in options for word in output_of([str(compiler), option]).split()]
    return [*(Path(word[2:]) for word in words if word.startswith("-I")), prefix / "include"]


def _standard(folders: Iterable[Path], header: str, *names: str) -> str | None:
    """The version of a standard, from the macros with its major and its minor number."""
    for folder in folders:
        try:
            text = (folder / header).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        numbers = [match[1] for name in names if (match := re.search(rf"#\s*define\s+_?{name}\s+(\d+)", text))]
        if len(numbers) == len(names):
            return ".".join(numbers)
    return None


def available_modules() -> list[str]:
    """Environment modules below MODULEPATH, such as `openmpi/4.1.4`, without starting a shell."""
    modules: list[str] = []
    for text in os.environ.get("MODULEPATH", "").split(os.pathsep):
        root = Path(text)
        if not text or not root.is_dir():
            continue
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            below = Path(folder).relative_to(root)
            modules += [(below / name).as_posix().removesuffix(".lua") for name in sorted(files) if name[0] != "."]
            if len(modules) > _MAX_MODULES:
                return modules[:_MAX_MODULES]
    return modules


def _fitting(modules: Iterable[str], words: tuple[str, ...], version: str) -> tuple[str, ...]:
    same = [name for name in modules if any(word in name.lower() for word in words)]
    return tuple(name for name in same if version and version in name) or tuple(same)


def _version_in(text: str) -> str:
    match = re.search(r"(\d+\.\d+(?:\.\d+)*(?:[a-z]+\d+)?)", text)
    return match[1] if match else ""


def _first_program(folder: Path, names: Iterable[str]) -> str | None:
    return next((str(folder / name) for name in names if _is_program(folder / name)), None)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
