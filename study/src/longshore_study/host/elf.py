"""Reads the build-id, the needed libraries and the run paths of an executable or library.

Reads the file itself (System V ABI, chapters 4 and 5), since readelf is not on every node.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_MOST_ENTRIES = 100_000  # of a table: a damaged file may contain any number
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE = 1, 2, 4
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 14, 15, 29
_NT_GNU_BUILD_ID = 3


@dataclass(frozen=True)
class ElfInfo:
    """All fields are empty if the file is unreadable or not an ELF file, such as a script."""

    build_id: str | None = None
    needed: list[str] = field(default_factory=list)
    soname: str | None = None
    run_path: list[str] = field(default_factory=list)


def describe(path: str | Path) -> ElfInfo:
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _Elf(content).info(Path(path))
    except (OSError, ValueError, IndexError, OverflowError, struct.error):
        return ElfInfo()


@dataclass(frozen=True)
class _Segment:
    kind: int
    offset: int
    address: int
    size: int


class _Elf:
    """A 64-bit ELF file of either byte order. Raises ValueError or struct.error for other files."""

    def __init__(self, content: mmap.mmap) -> None:
        if content[:5] != b"\x7fELF\x02":
            raise ValueError("not a 64-bit ELF file")
        self.content = content
        self.order = "<" if content[5] == 1 else ">"
        (start,) = self.unpack("Q", 32)
        size, count = self.unpack("HH", 54)
        self.segments = [self._segment(start + number * size) for number in range(count)]

    def unpack(self, fields: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + fields, self.content, offset)

    def _segment(self, place: int) -> _Segment:
        kind, _flags, offset, address, _physical, size = self.unpack("IIQQQQ", place)
        return _Segment(kind, offset, address, size)

    def info(self, path: Path) -> ElfInfo:
        entries = list(self._dynamic())
        strings = next((self._offset_of(value) for tag, value in entries if tag == _DT_STRTAB), 0)
        texts: dict[int, list[str]] = {}
        for tag, value in entries:
            if tag in (_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH):
                texts.setdefault(tag, []).append(self._text(strings + value))
        paths = [part for tag in (_DT_RUNPATH, _DT_RPATH) for text in texts.get(tag, []) for part in text.split(":")]
        origin = str(path.resolve().parent)
        return ElfInfo(
            build_id=self._build_id(),
            needed=texts.get(_DT_NEEDED, []),
            soname=next(iter(texts.get(_DT_SONAME, [])), None),
            run_path=[part.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for part in paths if part],
        )

    def _dynamic(self) -> Iterator[tuple[int, int]]:
        for segment in self.segments:
            if segment.kind == _PT_DYNAMIC:
                for number in range(min(segment.size // 16, _MOST_ENTRIES)):
                    tag, value = self.unpack("QQ", segment.offset + 16 * number)
                    if tag == _DT_NULL:
                        break
                    yield tag, value

    def _offset_of(self, address: int) -> int:
        """The offset in the file of the byte that is loaded at this address."""
        for segment in self.segments:
            if segment.kind == _PT_LOAD and segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
        raise ValueError("an address outside of all segments")

    def _text(self, offset: int) -> str:
        end = self.content.find(b"\0", offset, offset + 4096)
        return self.content[offset : max(end, offset)].decode("utf-8", "replace")

    def _build_id(self) -> str | None:
        for segment in self.segments:
            if segment.kind != _PT_NOTE:
                continue
            place, end = segment.offset, segment.offset + segment.size
            while place + 12 <= end:
                name_size, size, kind = self.unpack("III", place)
                name = self.content[place + 12 : place + 12 + name_size]
                body = place + 12 + (name_size + 3 & ~3)
                if kind == _NT_GNU_BUILD_ID and name == b"GNU\0":
                    return self.content[body : body + size].hex()
                place = body + (size + 3 & ~3)
        return None
