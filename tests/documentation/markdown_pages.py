"""Reads commands, programs, links and tables from Markdown pages, for test_documentation.py.

The commands of a block marked `sh` run one by one, in a scratch folder with links to the files of
the repository. A comment `# exit status 1` tells that a command ends with a status other than 0. A
block does not run if the line above it is `<!-- not run: why -->`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)(?:\{.*)?\s*$")  # also directives of the site: ```{toctree}
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
    """The commands of a block. A backslash at the end of a line continues the command."""
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
    """A message for each broken row: cut off by a blank line, or with a wrong number of cells."""
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
                yield f"{document}:{number}: this row belongs to no table: no line |---| follows it"
            head = line
        if _cells(line) != _cells(head):
            yield f"{document}:{number}: {_cells(line)} cells, but {_cells(head)} in the head of the table"


def long_lines(document: Path, columns: int = 100) -> Iterator[str]:
    """A message for each line of text beyond the last column, except in tables and blocks."""
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
