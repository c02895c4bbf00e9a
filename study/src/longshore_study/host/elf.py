"""Reads build-id, needed libraries and run paths of a program: not every node has readelf."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class ElfInfo:
    """What the loader needs to know of a file. All is empty for a script or unreadable file."""

    build_id: str | None = None
    needed: list[str] = field(default_factory=list)
    run_path: list[str] = field(default_factory=list)
    """The folders to search for the needed libraries, in order."""


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
            # ld.so(8): RUNPATH comes before RPATH, which the loader ignores if there is a RUNPATH.
            run_path = [tag.runpath for tag in tags if tag["d_tag"] == "DT_RUNPATH"]
            run_path += [tag.rpath for tag in tags if tag["d_tag"] == "DT_RPATH"]
            needed = [tag.needed for tag in tags if tag["d_tag"] == "DT_NEEDED"]
    except Exception:  # noqa: BLE001 - pyelftools raises any exception for damaged files
        return ElfInfo()
    origin = str(Path(path).resolve().parent)
    folders = [part for text in run_path for part in text.split(":") if part]
    return ElfInfo(build_id, needed, [part.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for part in folders])
