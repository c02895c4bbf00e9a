"""The form of the tables: sections with a heading, whose rows are cells of Markdown."""

import re
from collections.abc import Iterable


class MissingPartError(Exception):
    """A section cannot be listed, because its part of Longshore is not built or installed."""


Section = tuple[str, list[tuple[str, ...]]]  # its heading, and its rows


def code(text: str) -> str:
    return f"`{' '.join(text.split())}`"


def sentences(text: str) -> str:
    """A comment as text of a cell. Each item of a list has a line of its own."""
    plain = " ".join(re.sub(r"\n\s*- ", "\n<br>", text).split()).replace("|", "\\|")
    parts = plain.split("`")  # every second part is code
    parts[::2] = (part.replace("*", "\\*").replace(" < ", " &lt; ") for part in parts[::2])
    return "`".join(parts)


def markdown(head: tuple[str, ...], sections: Iterable[Section]) -> str:
    out: list[str] = []
    for heading, rows in sections:
        out += [f"## {heading}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
        out += [f"| {' | '.join(row)} |" for row in rows]
        out.append("")
    return "\n".join(out)
