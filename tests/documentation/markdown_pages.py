"""Reads what the documentation promises: commands, programs and links. Used by
test_documentation.py.

A block marked `sh` holds commands that are run, one by one, in a scratch folder that shows the
repository's files. A command that is to end with another status than 0 says so: `# exit status 1`.
A block is left out where the line above it is a comment `<!-- not run: why -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)(?:\{.*)?\s*$")  # of the site's own blocks, too: ```{toctree}
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
EXIT_STATUS = re.compile(r"#.*exit status (\d+)")
TABLE_RULE = re.compile(r"^\|?(\s*:?-+:?\s*\|)+(\s*:?-+:?\s*)?$")
CELL_BORDER = re.compile(r"(?<!\\)\|")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    document: Path
    line: int  # of the first line inside the block
    language: str
    text: str
    not_run: str  # the reason, or empty


@dataclass(frozen=True)
class Command:
    text: str
    line: int
    exit_status: int


def blocks(document: Path) -> Iterator[Block]:
    """The fenced blocks of a Markdown document."""
    lines = document.read_text(encoding="utf-8").splitlines()
    start = 0
    language = ""
    for number, line in enumerate(lines, start=1):
        fence = FENCE.match(line)
        if not fence:
            continue
        if not start:
            start, language = number + 1, fence[1]
            continue
        above = NOT_RUN.match(lines[start - 3]) if start > 2 else None
        yield Block(document, start, language, "\n".join(lines[start - 1 : number - 1]), above[1] if above else "")
        start = 0
    if start:
        raise ValueError(f"{document}:{start - 1}: this block is never closed")


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block; a line that ends in a backslash goes on in the next."""
    pending = ""
    first = 0
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        first = first or number
        pending += line
        if line.endswith("\\"):
            pending += "\n"
            continue
        if pending.strip() and not pending.lstrip().startswith("#"):
            status = EXIT_STATUS.search(pending)
            yield Command(pending.strip(), first, int(status[1]) if status else 0)
        pending, first = "", 0


def links(document: Path) -> Iterator[str]:
    """Targets of the document's links to files of the repository."""
    for match in LINK.finditer(document.read_text(encoding="utf-8")):
        target = match[1].partition("#")[0]
        if target and "://" not in target and not target.startswith("mailto:"):
            yield target


def broken_tables(document: Path) -> Iterator[str]:
    """What is wrong with the tables of a document: rows that a blank line cuts off, rows of more or
    fewer cells."""
    lines = document.read_text(encoding="utf-8").splitlines()
    inside = {
        number for block in blocks(document) for number in range(block.line, block.line + block.text.count("\n") + 1)
    }
    head = ""  # of the table of the line above
    for number, line in enumerate(lines, start=1):
        if not line.lstrip().startswith("|") or number in inside:
            head = ""
            continue
        if not head:
            below = lines[number] if number < len(lines) else ""
            if not TABLE_RULE.match(below.strip()):
                yield f"{document}:{number}: a row of no table: the line below it is no |---| under a head"
            head = line
        if _cells(line) != _cells(head):
            yield f"{document}:{number}: {_cells(line)} cells under a head of {_cells(head)}"


def long_lines(document: Path, columns: int = 100) -> Iterator[str]:
    """Lines of text beyond the last column. Tables and headings cannot be broken; blocks are shown
    as they are."""
    inside = {
        number
        for block in blocks(document)
        for number in range(block.line - 1, block.line + block.text.count("\n") + 2)
    }
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), start=1):
        if number not in inside and len(line) > columns and not line.startswith(("|", "#")):
            yield f"{document}:{number}: {len(line)} columns"


def _cells(row: str) -> int:
    return len(CELL_BORDER.split(row.strip().removeprefix("|").removesuffix("|")))
