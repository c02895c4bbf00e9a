"""Reads a table: a line with the names of the columns, and a line per measurement."""

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

from longshore_study.importers.imported import Source


@dataclass(frozen=True)
class TableLine:
    number: int
    texts: Mapping[str, str]
    """The text in each column."""


def read_table(
    source: Source, delimiter: str = ",", *, comments: bool = False, open_ended: bool = False
) -> tuple[list[str], list[TableLine]]:
    """The names of the columns, and the lines. With `comments`, lines that begin with # are left
    out. With `open_ended`, lines may end with delimiters, as ReFrame writes them."""

    def columns(texts: list[str]) -> list[str]:
        kept = [text.strip() for text in texts]
        while open_ended and len(kept) > width and not kept[-1]:
            kept.pop()
        return kept

    # Comments become empty lines, so that line numbers stay right.
    text = re.sub(r"^#.*", "", source.text, flags=re.MULTILINE) if comments else source.text
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    lines: list[TableLine] = []
    width = 0
    try:
        header = columns(next((texts for texts in reader if texts), []))
        width = len(header)
        for name in header:
            if not name or header.count(name) > 1:
                raise source.error_in_line(1, f"each column needs its own name, found '{name}'")
        for texts in reader:
            if not any(text.strip() for text in texts):
                continue
            found = columns(texts)
            number = reader.line_num
            if len(found) != width:
                raise source.error_in_line(number, f"{len(found)} values, but the header has {width} columns")
            lines.append(TableLine(number, dict(zip(header, found, strict=True))))
    except csv.Error as error:
        raise source.error_in_line(reader.line_num, f"not CSV: {error}") from None
    if not lines:
        raise source.error_in_line(1, "the table has a header but no lines")
    return header, lines
