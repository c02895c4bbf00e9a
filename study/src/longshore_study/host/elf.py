"""Reads build-id and needed libraries of a program: not every node has readelf."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ElfInfo:
    """Facts of an executable or library. All is empty for a script or unreadable file."""

    build_id: str | None = None
    needed: list[str] = field(default_factory=list)


def read_info(path: str | Path) -> ElfInfo:
    """Reads a file. The result is empty for a bad file; nothing is raised."""
    try:
        with Path(path).open("rb") as file:
            if file.read(4) != b"\x7fELF":
                return ElfInfo()
            from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - only commands that read programs need it

            segments = list(ELFFile(file).iter_segments())
            tags = [tag for s in segments if s["p_type"] == "PT_DYNAMIC" for tag in s.iter_tags()]
            notes = (note for s in segments if s["p_type"] == "PT_NOTE" for note in s.iter_notes())
            build_id = next((note["n_desc"] for note in notes if note["n_type"] == "NT_GNU_BUILD_ID"), None)
            return ElfInfo(build_id, [tag.needed for tag in tags if tag["d_tag"] == "DT_NEEDED"])
    except Exception:  # noqa: BLE001 - pyelftools raises any exception for damaged files
        return ElfInfo()
