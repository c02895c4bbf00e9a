"""In which format a file is written: its ending decides, or what was asked for where the ending
says nothing of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longshore_study.base.errors import UsageError


def of_file(output: Path | None, asked: str | None, endings: Mapping[str, Sequence[str]], otherwise: str) -> str | None:
    """The format of `output`. `endings` has the formats that may stand in a file of each ending,
    the usual one first.

    A file of another ending needs `asked`; one without an ending, and no file, have what was asked
    for, perhaps None. `otherwise` tells a user what to do about another ending. Raises UsageError
    where the ending and `asked` contradict each other, so that no file holds what its name does not
    say.
    """
    if output is None or not output.suffix:
        return asked
    formats = endings.get(output.suffix.lower())
    if formats is None and asked is None:
        raise UsageError(
            f"{output}: no format is written to files that end in '{output.suffix}'. Those that tell their format: "
            f"{', '.join(endings)}; {otherwise}"
        )
    if formats is None or asked in formats:
        return asked
    if asked is not None:
        raise UsageError(
            f"{output}: a file that ends in '{output.suffix}' is {' or '.join(formats)}, and not {asked}; "
            "leave --format out, or name the file otherwise"
        )
    return formats[0]
