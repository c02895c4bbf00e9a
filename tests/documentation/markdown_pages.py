"""Reads commands, programs, links and tables from Markdown pages, for test_documentation.py.

The commands of a block marked `sh` run one by one, in a scratch folder with links to the files of
the repository. A comment `# exit status 1` tells that a command ends with a status other than 0. A
block does not run if the line above it is `<!-- not run: why -->`.

A block below `<!-- from FILE -->` is an excerpt of a file of the repository. A line `...` in it
stands for lines that are left out.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\w*)(?:\{.*)?\s*$")  # also directives of the site: ```{toctree}
NOT_RUN = re.compile(r"^<!-- not run: (.+) -->$")
FROM = re.compile(r"^<!-- from (\S+) -->$")
LEFT_OUT = "..."
EXIT_STATUS = re.compile(r"#.*exit status (\d+)")
MADE_FOLDER = re.compile(r"(?:cmake (?:-S \S+ )?(?:--preset |-B build/)|^tools/(?=fuzz --seconds))([\w-]+)")
USED_FOLDER = re.compile(r"(?:(?:--install|--build|cd) build/|\bbuild/(?=[\w-]+/))([\w-]+)")
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
    source: str = ""  # the file of an excerpt, or empty


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
        above = lines[start - 3] if start > 2 else ""
        reason, source = NOT_RUN.match(above), FROM.match(above)
        text = "\n".join(lines[start - 1 : number - 1])
        yield Block(document, start, language, text, reason[1] if reason else "", source[1] if source else "")
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


def folders_not_built(document: Path, targets: Callable[[str], str]) -> Iterator[str]:
    """A message for each command that uses a folder of `build` which no earlier command of the page
    has made. `targets` gives the commands that `make WORDS` runs."""
    made: set[str] = set()
    for command in (command for block in blocks(document) if block.language == "sh" for command in commands(block)):
        makes = re.match(r"make ([a-z -]+)", command.text)
        made |= set(MADE_FOLDER.findall(targets(makes[1]) if makes else command.text))
        for folder in USED_FOLDER.findall(command.text):
            if folder not in made:
                yield f"{document}:{command.line}: nothing on this page has made build/{folder}: {command.text}"


def links(document: Path) -> Iterator[str]:
    """Targets of the document's links to files of the repository."""
    for match in LINK.finditer(document.read_text(encoding="utf-8")):
        target = match[1].partition("#")[0]
        if target and "://" not in target and not target.startswith("mailto:"):
            yield target


def foreign_parts(block: Block, source: str) -> Iterator[str]:
    """The parts of an excerpt that are not in the source, in their order and with the same lines.

    The indentation of a whole part may differ.
    """
    lines = source.splitlines()
    begin = 0
    for part in re.split(rf"^{re.escape(LEFT_OUT)}$", block.text, flags=re.MULTILINE):
        wanted = part.strip("\n").splitlines()
        places = range(begin, len(lines) - len(wanted) + 1)
        found = next((i for i in places if _dedented(lines[i : i + len(wanted)]) == _dedented(wanted)), None)
        if found is None or not wanted:
            yield part
        else:
            begin = found + len(wanted)


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


def _dedented(lines: list[str]) -> list[str]:
    return textwrap.dedent("\n".join(lines)).splitlines()


def _cells(row: str) -> int:
    return len(CELL_BORDER.split(row.strip().removeprefix("|").removesuffix("|")))
