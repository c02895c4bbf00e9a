"""Provenance: facts about the system that the program does not record, such as image release,
programming environment, firmware, kernel options, and build-ids of the program and its libraries.

`longshore run` collects the facts once into provenance-<digest>.json in the session's folder. Each
launch names the digest, so a change of the system during a session is visible.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from longshore_study.host import elf
from longshore_study.host.answers import answer_of
from longshore_study.host.machine import Machine
from longshore_study.store.launch_store import Launch
from longshore_study.store.whole_file import write_whole

_LONGEST_VALUE = 2000
_LARGEST_HASHED_BYTES = 256 * 2**20
_RELEASE_KEYS = ("PRETTY_NAME", "VERSION_ID", "BUILD_ID", "IMAGE_ID", "IMAGE_VERSION", "VARIANT_ID")
_RELEASE_FILES = ("/etc/cray-release", "/etc/opt/cray/release/cle-release", "/etc/opt/cray/release/cos-release",
                  "/etc/cos-release", "/etc/rocky-release", "/etc/redhat-release", "/etc/sles-release", "/etc/image-id",
                  "/etc/longshore-image")  # fmt: skip
_FIRMWARE = {
    "bios": "/sys/class/dmi/id/bios_version",
    "bios date": "/sys/class/dmi/id/bios_date",
    "board": "/sys/class/dmi/id/board_name",
    "product": "/sys/class/dmi/id/product_name",
}
_DEVICE_FIRMWARE = ("/sys/class/infiniband/*/fw_ver", "/sys/class/cxi/*/device/fw_version",
                    "/sys/class/cxi/*/device/properties/fw_version")  # fmt: skip
_ENVIRONMENT = ("PE_ENV", "CRAY_CPE_VERSION", "CPE_VERSION", "CRAYPE_VERSION", "CRAY_MPICH_VERSION",
                "CRAY_LIBSCI_VERSION", "CRAYPE_NETWORK_TARGET",
                "EBROOTFOSS", "EBVERSIONFOSS", "SPACK_ENV", "CONDA_DEFAULT_ENV")  # fmt: skip
_NOT_FOUND = 127  # of a program, by `env`
_LIBRARY = re.compile(r"^\s*(?:(\S+) => )?(/.*) \(0x[0-9a-f]+\)$", re.MULTILINE)  # of ldd; the loader has no name
_SECRET = re.compile(r"(\S*(?:token|secret|passw|key)\S*=)\S+", re.IGNORECASE)


@dataclass(frozen=True)
class Program:
    path: str
    stack: str = ""
    library_path: str | None = None
    """LD_LIBRARY_PATH for this program. If None, the value of the current environment counts."""


def collect(programs: Iterable[Program], machine: Machine | None = None) -> dict[str, str]:
    """The facts that can be read, by name."""
    machine = machine or Machine()
    text_of = machine.text
    facts: dict[str, str] = {}
    release = _key_values(text_of("etc/os-release"))
    facts |= {f"image {key.lower()}": release[key] for key in _RELEASE_KEYS if release.get(key)}
    for path in _RELEASE_FILES:
        if text := text_of(path):
            facts[f"image {path}"] = text.splitlines()[0]
    facts |= {f"environment {name}": os.environ[name] for name in _ENVIRONMENT if os.environ.get(name)}
    if modules := os.environ.get("LOADEDMODULES"):
        facts["modules"] = modules
    facts |= {f"firmware {part}": text for part, path in _FIRMWARE.items() if (text := text_of(path))}
    for pattern in _DEVICE_FIRMWARE:
        for path in machine.matching(pattern):
            if text := text_of(path):
                facts[f"firmware {path.split('/')[3]}"] = text
    lines = (line.partition(":") for line in (text_of("proc/cpuinfo") or "").splitlines())
    if microcode := next((value.strip() for name, _, value in lines if name.startswith("microcode")), None):
        facts["firmware microcode"] = microcode
    if options := text_of("proc/cmdline"):
        facts["kernel options"] = _SECRET.sub(r"\1(masked)", options)
    for program in programs:
        facts |= _build_ids(program)
    # Variables and file names are bytes that may not be valid UTF-8.
    return {key: value[:_LONGEST_VALUE].encode("utf-8", "replace").decode() for key, value in facts.items()}


def store_provenance(folder: Path, programs: Iterable[Program]) -> str:
    """Stores the facts beside the launches and returns their digest, or "" if that fails."""
    text = json.dumps(collect(programs), indent=1, sort_keys=True, ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    path = folder / f"provenance-{digest}.json"
    if not path.exists():
        try:
            write_whole(path, text)
        except OSError:
            return ""
    return digest


def of_launch(launch: Launch) -> Mapping[str, str]:
    """The facts stored for this launch. Empty without a digest, as for imported launches."""
    digest = launch.envelope.get("provenance")
    if not isinstance(digest, str) or not digest.isalnum():
        return {}
    return _read(str(launch.path.with_name(f"provenance-{digest}.json")))


@lru_cache(maxsize=256)
def _read(path: str) -> Mapping[str, str]:
    try:
        facts: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return {str(key): str(value) for key, value in facts.items()} if isinstance(facts, dict) else {}


def _build_ids(program: Program) -> dict[str, str]:
    path = Path(program.path)
    prefix = f"{program.stack} build-id" if program.stack else "build-id"
    setting = [] if program.library_path is None else ["env", f"LD_LIBRARY_PATH={program.library_path}"]
    listed = answer_of([*setting, "ldd", str(path.absolute())])
    if listed is None or listed.returncode == _NOT_FOUND:
        return {f"{prefix} {path.name}": identity(path), f"{prefix} libraries": "not known: ldd cannot run"}
    libraries = {name or Path(file).name: Path(file) for name, file in _LIBRARY.findall(listed.stdout)}
    return {f"{prefix} {name}": identity(file) for name, file in {path.name: path, **libraries}.items()}


def identity(path: Path) -> str:
    """The build-id of a file. Without a build-id: a digest of the content, or the size."""
    build_id = elf.read_info(path).build_id
    if build_id:
        return build_id
    try:
        if path.stat().st_size > _LARGEST_HASHED_BYTES:
            return f"size {path.stat().st_size}"
        with path.open("rb") as file:
            return f"sha256 {hashlib.file_digest(file, 'sha256').hexdigest()[:32]}"
    except OSError:
        return "unreadable"


def _key_values(text: str | None) -> dict[str, str]:
    pairs = (line.partition("=") for line in (text or "").splitlines())
    return {key.strip(): value.strip().strip("\"'") for key, sign, value in pairs if sign}
