#!/usr/bin/env python3
"""Check that all C++ includes and links go down the layers of ARCHITECTURE.md.

A file includes no file of a layer above it or beside it, and no file in the folder detail/ of
another layer; the layers of the library share detail/ of core, machine, device, transport and
exchange. The folders of bench/ have an order of the same kind. Each header that an installed header
includes is installed too. Only a few files outside of transport/simulated/ name the simulated
machine.

Usage: check_layers.py [REPOSITORY]. Prints a line `file:line: message` per violation. The exit
status is 1 if there is a violation, or if no C++ source was found. Needs only Python.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Layers, lowest first. Layers of the same step never include each other. The headers longshore.hpp
# (all public headers) and mpi.hpp (for programs that have MPI) are above all layers.
STEPS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("machine",),
    ("device",),
    ("transport",),
    ("array",),
    ("exchange",),
    ("aggregate",),
    ("stream", "gather", "halo", "ghost", "boxes", "sort"),
    ("longshore.hpp", "mpi.hpp"),
    ("bindings",),
    ("bench",),
)
STEP_OF = {layer: step for step, layers in enumerate(STEPS) for layer in layers}

# Layers whose detail/ all higher layers of the library may include. Their users may not.
FOUNDATIONS = ("core", "machine", "device", "transport", "exchange")

# Folders of bench/, lowest first. Folders of the same step never include each other. Only main
# programs lie in bench/ itself. They may include all folders.
BENCH_STEPS: tuple[tuple[str, ...], ...] = (("facts",), ("harness",), ("patterns", "records"), ("commands",))
BENCH_STEP_OF = {folder: step for step, folders in enumerate(BENCH_STEPS) for folder in folders}

# The folder of transport/ that selects a transport at run time. It may include all transports.
CHOOSER = "launch"

# Folders of transport/ that several transports share, with these transports.
BASES = {"one_sided": ("shmem", "ucx", "simulated")}

# Headers of communication libraries, and the name of the folders that may include them:
# transport/mpi/, halo/detail/mpi/, ...
FOREIGN_HEADERS = (
    (re.compile(r"mpi\.h$|mpi-ext\.h$"), "mpi"),
    (re.compile(r"shmem\.h$|shmemx\.h$"), "shmem"),
    (re.compile(r"uc[pstm]/"), "ucx"),
)
FOREIGN_FOLDER_PARENTS = ("transport", "exchange", "halo", "sort")
# Transports whose processes another library starts.
STARTED_BY = {("transport", "ucx"): "mpi"}

# Files outside of transport/simulated/ that may name the simulated machine: they choose it, declare
# its options and its cost sink, or write what users read. Tests may name it, too.
SIMULATED = re.compile("simulated", re.IGNORECASE)
MAY_NAME_SIMULATED = re.compile(
    r"src/longshore/transport/(simulated/|launch/|(cost_sink|run_options|team|detail/transport_entry)\.hpp$)"
    r"|bench/commands/(calibrate_command|command_line|help|measure|measured_machine)\."
)

SOURCES = ("src/longshore", "bench", "bindings")
SUFFIXES = (".hpp", ".cpp", ".h", ".c")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Installed headers of a layer: lists named HEADERS, DETAIL or *_headers in its CMakeLists.txt.
HEADER_LIST = re.compile(r"\b(?:HEADERS|DETAIL|\w+_headers)\s+((?:[\w./${}]+\.hpp\s*|\$\{\w+\}\s*)+)")
TARGET = re.compile(r"\blongshore(?:::|_)(\w+)")
# Targets that are not named after their layer.
LAYER_OF_TARGET = {"longshore": "longshore.hpp"}
LAYER_OF_TARGET |= dict.fromkeys(("c", "fortran"), "bindings")
LAYER_OF_TARGET |= dict.fromkeys(
    (CHOOSER, "one_sided", "threads", "mpi", "shmem", "ucx", "simulated", "openshmem", "ucp", "boost_context"),
    "transport",
)


@dataclass(frozen=True)
class Location:
    """The layer of a file and its folder within the layer."""

    layer: str
    folder: str
    """'' at the top of a layer, and mpi in LAYER/mpi/ and in LAYER/detail/mpi/."""
    is_detail: bool = False
    """Whether the file is in detail/."""

    @classmethod
    def of(cls, path: str) -> Location | None:
        """The location of a path relative to the repository; None outside of the sources."""
        parts = path.split("/")
        if parts[:2] == ["src", "longshore"]:
            parts = parts[2:]
        elif parts[0] not in ("bench", "bindings"):
            return None
        folders = parts[1:-1]
        is_detail = folders[:1] == ["detail"]
        if is_detail:
            folders = folders[1:]
        return cls(layer=parts[0], folder=folders[0] if folders else "", is_detail=is_detail)


def violations_of_include(path: str, here: Location, included: str, *, quoted: bool) -> Iterator[str]:
    """Messages about an include of the file `path`, which is at `here`."""
    for header, transport in FOREIGN_HEADERS:
        if header.match(included) and not may_include_foreign(path, here, transport):
            allowed = ", ".join(
                f"{layer}/{'' if layer == 'transport' else 'detail/'}{transport}/" for layer in FOREIGN_FOLDER_PARENTS
            )
            yield f"layer '{here.layer}' includes <{included}>, which is allowed only under {allowed}"
    there = Location.of(resolved(path, included, quoted=quoted))
    if there is None:
        return
    if there.is_detail and there.layer != here.layer and not may_include_detail_of(here, there):
        yield f"layer '{here.layer}' includes '{there.layer}/detail/', the internals of another layer"
    if there.layer not in STEP_OF:
        yield f"layer '{here.layer}' includes '{there.layer}', which is no layer ({order()})"
    elif there.layer == here.layer:
        if here.layer == "transport":
            yield from violations_within_transport(path, here, there)
        if here.layer == "bench":
            yield from violations_within_bench(path, included)
    elif STEP_OF[there.layer] > STEP_OF[here.layer]:
        yield f"layer '{here.layer}' includes '{there.layer}', a layer above it"
    elif STEP_OF[there.layer] == STEP_OF[here.layer]:
        yield f"layer '{here.layer}' includes '{there.layer}', a layer beside it"
    elif there.layer == "transport" and there.folder not in ("", CHOOSER, here.folder, *transports_in_name(path, here)):
        yield (
            f"layer '{here.layer}' includes '{there.layer}/{there.folder}', one of the transports: above them only "
            f"transport/*.hpp and transport/{CHOOSER}/ are included"
        )


def violations_within_transport(path: str, here: Location, there: Location) -> Iterator[str]:
    if there.folder == CHOOSER and is_test(path):
        return  # tests of the common interface run on each transport
    if here.folder == "" and there.folder != "":
        yield f"layer 'transport' includes 'transport/{there.folder}': the common interface includes no transport"
    elif here.folder in BASES.get(there.folder, ()):
        return
    elif here.folder not in (there.folder, CHOOSER) and there.folder != "":
        yield f"layer 'transport/{here.folder}' includes 'transport/{there.folder}', a transport beside it"


def violations_within_bench(path: str, included: str) -> Iterator[str]:
    here, there = path.split("/")[1:-1], resolved(path, included, quoted=True).split("/")[1:-1]
    if not here:
        return  # a main program
    if not there:
        yield f"'{path}' includes '{included}': nothing but main programs lies in bench/ itself"
        return
    if here[0] not in BENCH_STEP_OF or there[0] not in BENCH_STEP_OF:
        return  # check_file reports the file in that folder
    if BENCH_STEP_OF[there[0]] > BENCH_STEP_OF[here[0]]:
        yield f"'bench/{here[0]}' includes 'bench/{there[0]}', a folder above it"
    elif here[0] != there[0] and BENCH_STEP_OF[there[0]] == BENCH_STEP_OF[here[0]]:
        yield f"'bench/{here[0]}' includes 'bench/{there[0]}', a folder beside it"
    elif here[0] == there[0] == "patterns" and len(there) > 1 and here[1:2] != there[1:2]:
        yield f"'bench/{'/'.join(here)}' includes 'bench/{'/'.join(there)}', another pattern"


def may_include_foreign(path: str, here: Location, transport: str) -> bool:
    """Whether the folder has the name of the transport, or the file is a test with that name."""
    if here.layer in FOREIGN_FOLDER_PARENTS and here.folder == transport:
        return True
    if STARTED_BY.get((here.layer, here.folder)) == transport or transport in transports_in_name(path, here):
        return True
    return is_test(path) and transport in words_of(path)


def may_include_detail_of(here: Location, there: Location) -> bool:
    """Whether `there` is in FOUNDATIONS and `here` is a layer of the library."""
    return there.layer in FOUNDATIONS and STEP_OF.get(here.layer, STEP_OF["bench"]) < STEP_OF["longshore.hpp"]


def transports_in_name(path: str, here: Location) -> list[str]:
    """Transports in the name of a file above the layers, such as longshore_mpi.h."""
    return words_of(path) if here.layer in ("bindings", "mpi.hpp") else []


def is_test(path: str) -> bool:
    """Whether `test` is a word of the file name."""
    return "test" in words_of(path)


def words_of(path: str) -> list[str]:
    return posixpath.basename(path).partition(".")[0].split("_")


def resolved(path: str, included: str, *, quoted: bool) -> str:
    """The path of an included file relative to the repository; unchanged for a file outside."""
    if included.startswith("longshore/"):
        return "src/" + included
    if not quoted:
        return "<" + included  # no path of a layer begins with <
    if path.startswith("bench/") and not included.startswith("."):
        return "bench/" + included  # bench/ is an include directory
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), included))
    return included if beside.startswith("..") else beside


def violations_of_link(here: Location, target: str) -> Iterator[str]:
    """Messages about a target in the CMakeLists.txt of a layer; `target` begins with a layer."""
    there = target.partition("_")[0]
    there = LAYER_OF_TARGET.get(there, there)
    if there not in STEP_OF or there == here.layer:
        return
    if STEP_OF[there] >= STEP_OF[here.layer]:
        side = "above" if STEP_OF[there] > STEP_OF[here.layer] else "beside"
        yield f"layer '{here.layer}' links longshore_{target}, of the layer '{there}' {side} it"


def order(steps: tuple[tuple[str, ...], ...] = STEPS) -> str:
    return " < ".join("{" + ", ".join(names) + "}" if len(names) > 1 else names[0] for names in steps)


def files_to_check(root: Path) -> list[Path]:
    files = (file for top in SOURCES for file in (root / top).rglob("*"))
    return sorted(f for f in files if f.is_file() and (f.suffix in SUFFIXES or f.name == "CMakeLists.txt"))


def public_headers(root: Path) -> set[str]:
    """Installed headers of all layers, relative to src/."""
    listed: set[str] = set()
    for file in (root / "src" / "longshore").rglob("CMakeLists.txt"):
        folder = file.parent.relative_to(root / "src").as_posix()
        for names in HEADER_LIST.findall(file.read_text(encoding="utf-8")):
            listed |= {f"{folder}/{name}" for name in names.split() if name.endswith(".hpp")}
    return listed


def violations_of_publicity(root: Path) -> Iterator[str]:
    """Messages about installed headers that include a header that is not installed."""
    listed = public_headers(root)
    for header in sorted(listed):
        file = root / "src" / header
        if not file.is_file():
            continue  # CMake reports it
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            included = match and resolved(f"src/{header}", match[2], quoted=match[1] == '"')
            if included and included.startswith("src/longshore/") and included[4:] not in listed:
                yield f"src/{header}:{number}: is installed and includes {included}, which no list of HEADERS names"


def check_file(root: Path, file: Path) -> Iterator[str]:
    path = file.relative_to(root).as_posix()
    here = Location.of(path)
    assert here is not None, path
    is_cmake = file.name == "CMakeLists.txt"
    if is_cmake and path == "src/longshore/CMakeLists.txt":
        return  # the file joins all layers into one target
    if here.layer not in STEP_OF:
        yield f"{path}:1: folder '{here.layer}' is no layer ({order()})"
        return
    if here.layer == "bench" and here.folder and here.folder not in BENCH_STEP_OF:
        yield f"{path}:1: folder '{here.folder}' is missing in the order of bench/ ({order(BENCH_STEPS)})"
        return
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        if is_cmake:
            names = TARGET.findall(line.partition("#")[0])
            found = [text for name in names for text in violations_of_link(here, name)]
        else:
            match = INCLUDE.match(line)
            found = list(violations_of_include(path, here, match[2], quoted=match[1] == '"')) if match else []
            if SIMULATED.search(line) and not (MAY_NAME_SIMULATED.match(path) or is_test(path)):
                found.append("names the simulated machine: account for work by team::charge (transport/cost_sink.hpp)")
        yield from (f"{path}:{number}: {text}" for text in found)


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    files = files_to_check(root)
    if not any(file.suffix in SUFFIXES for file in files):
        print(f"{root}: found no C++ sources under {', '.join(SOURCES)}", file=sys.stderr)
        return 1
    violations = [text for file in files for text in check_file(root, file)]
    violations += violations_of_publicity(root)
    for text in violations:
        print(text, file=sys.stderr)
    if violations:
        print(f"layers: {len(violations)} violations; the order is {order()}", file=sys.stderr)
        return 1
    print(f"layers: {len(files)} files include and link only what is below them")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
