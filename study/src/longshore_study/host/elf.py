"""Reads the build-id, the needed libraries and the run paths of an executable or library from the
ELF format (System V ABI, chapters 4 and 5), since readelf is not on every node."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Limits for damaged files, in which a size may be any number.
_MAX_ENTRIES = 100_000
_MAX_TEXT_BYTES = 4096
# Offsets in the header of a 64-bit file. The table of segments has an offset (e_phoff), and the
# size and the number of its entries (e_phentsize, e_phnum).
_BYTE_ORDER_OFFSET = 5
_TABLE_OFFSET = 32
_ENTRY_SIZE_OFFSET = 54
_DYNAMIC_ENTRY_BYTES = 16
_NOTE_HEADER_BYTES = 12
_LITTLE_ENDIAN = 1
_PT_LOAD, _PT_DYNAMIC, _PT_NOTE = 1, 2, 4
_DT_NULL, _DT_NEEDED, _DT_STRTAB, _DT_RPATH, _DT_RUNPATH = 0, 1, 5, 15, 29
_NT_GNU_BUILD_ID = 3


@dataclass(frozen=True)
class ElfInfo:
    """What the loader needs to know of a file. All fields are empty if the file is unreadable or
    not an ELF file, such as a script."""

    build_id: str | None = None
    needed: list[str] = field(default_factory=list)
    """The names of the needed libraries."""
    run_path: list[str] = field(default_factory=list)
    """The folders to search for the needed libraries, in order."""


def read_info(path: str | Path) -> ElfInfo:
    """Never raises for a bad file: the result is empty instead."""
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
        self.byte_order = "<" if content[_BYTE_ORDER_OFFSET] == _LITTLE_ENDIAN else ">"
        (start,) = self.unpack("Q", _TABLE_OFFSET)
        size, count = self.unpack("HH", _ENTRY_SIZE_OFFSET)
        self.segments = [self._segment(start + number * size) for number in range(count)]

    def unpack(self, fields: str, offset: int) -> tuple[int, ...]:
        return struct.unpack_from(self.byte_order + fields, self.content, offset)

    def _segment(self, offset: int) -> _Segment:
        kind, _flags, content_offset, address, _physical, size = self.unpack("IIQQQQ", offset)
        return _Segment(kind, content_offset, address, size)

    def info(self, path: Path) -> ElfInfo:
        entries = list(self._dynamic())
        strings = next((self._offset_of(value) for tag, value in entries if tag == _DT_STRTAB), 0)
        texts: dict[int, list[str]] = {}
        for tag, value in entries:
            if tag in (_DT_NEEDED, _DT_RPATH, _DT_RUNPATH):
                texts.setdefault(tag, []).append(self._text(strings + value))
        # ld.so(8): RUNPATH comes before RPATH, which the loader ignores if there is a RUNPATH.
        paths = [part for tag in (_DT_RUNPATH, _DT_RPATH) for text in texts.get(tag, []) for part in text.split(":")]
        origin = str(path.resolve().parent)
        return ElfInfo(
            build_id=self._build_id(),
            needed=texts.get(_DT_NEEDED, []),
            run_path=[part.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for part in paths if part],
        )

    def _dynamic(self) -> Iterator[tuple[int, int]]:
        """The (tag, value) entries of the dynamic section, which is the loader's list of what the
        file needs."""
        for segment in self.segments:
            if segment.kind == _PT_DYNAMIC:
                for number in range(min(segment.size // _DYNAMIC_ENTRY_BYTES, _MAX_ENTRIES)):
                    tag, value = self.unpack("QQ", segment.offset + _DYNAMIC_ENTRY_BYTES * number)
                    if tag == _DT_NULL:
                        break
                    yield tag, value

    def _offset_of(self, address: int) -> int:
        """The offset in the file of the byte that the loader puts at this address."""
        for segment in self.segments:
            if segment.kind == _PT_LOAD and segment.address <= address < segment.address + segment.size:
                return address - segment.address + segment.offset
        raise ValueError("an address outside of all segments")

    def _text(self, offset: int) -> str:
        """The text at `offset`, which ends with a zero byte. Empty if no zero byte follows."""
        end = self.content.find(b"\0", offset, offset + _MAX_TEXT_BYTES)
        return self.content[offset : max(end, offset)].decode("utf-8", "replace")

    def _build_id(self) -> str | None:
        for segment in self.segments:
            if segment.kind != _PT_NOTE:
                continue
            offset, end = segment.offset, segment.offset + segment.size
            while offset + _NOTE_HEADER_BYTES <= end:
                name_size, size, kind = self.unpack("III", offset)
                name_offset = offset + _NOTE_HEADER_BYTES
                name = self.content[name_offset : name_offset + name_size]
                body = name_offset + _padded(name_size)
                if kind == _NT_GNU_BUILD_ID and name == b"GNU\0":
                    return self.content[body : body + size].hex()
                offset = body + _padded(size)
        return None


def _padded(size: int) -> int:
    """The next multiple of 4: the name and the content of a note are padded to whole words."""
    return size + 3 & ~3
