"""Finds the communication stacks of this machine: MPI, OpenSHMEM and UCX. The search covers
--search, PATH, environment variables such as MPI_HOME, and the usual folders. The version comes
from the launcher, the version of the standard from the header file."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from longshore_study.host.answers import output_of
from longshore_study.host.mpi import INTEL, LAUNCHER_NAMES, MPICH, OPEN_MPI, Mpi, identify

MPI, SHMEM, UCX = "MPI", "OpenSHMEM", "UCX"
_LAUNCHERS = (*LAUNCHER_NAMES, "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra", "mpiexec.openmpi")
_WRAPPERS = {"mpiexec.mpich": "mpicxx.mpich", "mpirun.openmpi": "mpicxx.openmpi", "mpiexec.openmpi": "mpicxx.openmpi"}
_PREFIX_PATTERNS = (
    "/usr/lib64/openmpi*", "/usr/lib64/mpich*", "/opt/openmpi*", "/opt/mpich*", "/opt/intel/oneapi/mpi/*", "/opt/ucx*",
    "/opt/hpcx*/ompi", "/opt/cray/pe/mpich/*/ofi/*/*", "/opt/mvapich*", "/opt/sandia-openshmem*", "/usr/local",
)  # fmt: skip
_HOMES = ("MPI_HOME", "MPI_ROOT", "I_MPI_ROOT", "OMPI_HOME", "MPICH_DIR", "UCX_HOME", "OPENSHMEM_HOME")
_SHORT = {OPEN_MPI: "openmpi", MPICH: "mpich", INTEL: "impi"}
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
    stacks: dict[tuple[str, str], Stack] = {}
    for stack in (*_mpis(folders, modules), *_shmems(folders, modules), *_ucxs(folders, modules)):
        stacks.setdefault((stack.what, (stack.launcher and str(Path(stack.launcher).resolve())) or stack.prefix), stack)
    return list(stacks.values())


def _bin_folders(search: Iterable[str]) -> Iterator[Path]:
    for text in search:
        prefix = Path(text).absolute()  # since programs start in other folders
        yield from (folder for folder in (prefix / "bin", prefix) if folder.is_dir())
    yield from (Path(text) for text in os.environ.get("PATH", "").split(os.pathsep) if text)
    yield from (Path(home) / "bin" for name in _HOMES if (home := os.environ.get(name)))
    for pattern in _PREFIX_PATTERNS:
        yield from (folder / "bin" for folder in sorted(Path("/").glob(pattern.lstrip("/"))))


def _mpis(folders: Iterable[Path], modules: list[str]) -> Iterator[Stack]:
    seen: set[str] = set()
    for folder in folders:
        for name in _LAUNCHERS:
            path = folder / name
            real = str(path.resolve())
            if not _is_program(path) or real in seen:
                continue
            seen.add(real)
            mpi = identify(str(path))
            if mpi is not None and mpi.kind in _SHORT:
                stack = _mpi(mpi, folder, modules)
                # mpirun and mpiexec of one installation are often two scripts with the same effect.
                if (key := f"{stack.prefix} {stack.name}") not in seen:
                    seen.add(key)
                    yield stack


def _mpi(mpi: Mpi, folder: Path, modules: list[str]) -> Stack:
    prefix = folder.parent
    wrapper = _WRAPPERS.get(Path(mpi.path).name)
    names = [wrapper] if wrapper else ["mpicxx", "mpic++", "mpiicpc"]
    compiler = next((str(folder / name) for name in names if _is_program(folder / name)), None)
    short = _SHORT[mpi.kind]
    version = _version_in(mpi.version)
    return Stack(
        name=f"{short}-{version}" if version else short,
        what=MPI,
        kind=mpi.kind,
        version=version,
        standard=_standard(_headers(compiler, prefix), "mpi.h", r"#\s*define\s+MPI_{}\s+(\d+)"),
        launcher=mpi.path,
        prefix=str(prefix),
        compiler=compiler,
        modules=_fitting(modules, {"openmpi": ("openmpi", "ompi", "hpcx"), "mpich": ("mpich", "mvapich"),
                                   "impi": ("impi", "intel-mpi", "intelmpi")}[short], version),
        environment=(
            {"I_MPI_ROOT": str(prefix), "FI_PROVIDER_PATH": str(prefix / "lib")} if mpi.kind == INTEL else {}
        ),
        paths=_paths(prefix),
    )  # fmt: skip


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


def _standard(folders: Iterable[Path], header: str, define: str) -> str | None:
    for folder in folders:
        try:
            text = (folder / header).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        major = re.search(define.format("VERSION" if header == "mpi.h" else "MAJOR_VERSION"), text)
        minor = re.search(define.format("SUBVERSION" if header == "mpi.h" else "MINOR_VERSION"), text)
        if major and minor:
            return f"{major[1]}.{minor[1]}"
    return None


def _shmems(folders: Iterable[Path], modules: list[str]) -> Iterator[Stack]:
    for folder in folders:
        path = next((folder / name for name in ("oshrun", "shmemrun") if _is_program(folder / name)), None)
        if path is None:
            continue
        output = output_of([str(path), "--version"])
        compiler = next((str(folder / n) for n in ("oshc++", "oshcxx", "oshcc") if _is_program(folder / n)), None)
        version = _version_in(output)
        yield Stack(
            name=f"oshmem-{version}" if version else "oshmem",
            what=SHMEM,
            kind=OPEN_MPI if "Open" in output else "unknown",
            version=version,
            standard=_standard(_headers(compiler, folder.parent), "shmem.h", r"#\s*define\s+_?SHMEM_{}\s+(\d+)"),
            launcher=str(path),
            prefix=str(folder.parent),
            compiler=compiler,
            modules=_fitting(modules, ("shmem",), version),
            paths=_paths(folder.parent),
        )


def _ucxs(folders: Iterable[Path], modules: list[str]) -> Iterator[Stack]:
    seen: set[Path] = set()
    for folder in folders:
        real = (folder / "ucx_info").resolve()  # /bin may be /usr/bin
        if _is_program(folder / "ucx_info") and real not in seen:
            seen.add(real)
            output = output_of([str(folder / "ucx_info"), "-v"])
            match = re.search(r"(?:version|Version:?)[ =]*(\d+\.\d+(?:\.\d+)?)", output)
            version = match[1] if match else _version_in(output)
            yield Stack(
                f"ucx-{version}" if version else "ucx", UCX, UCX, version, None, "", str(folder.parent),
                modules=_fitting(modules, ("ucx",), version),
            )  # fmt: skip


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


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
