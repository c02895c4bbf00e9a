"""The format of an output file: its ending decides, or --format where the ending is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longshore_study.base.errors import UsageError


def of_file(output: Path | None, asked: str | None, endings: Mapping[str, Sequence[str]], otherwise: str) -> str | None:
    """The format of `output`, from its ending and from `asked`, the format that the user gave.

    `endings`: the formats of each ending, the usual one first. A file with an unknown ending needs
    `asked`. A file without an ending, and no file, get `asked`, which may be None. `otherwise` is
    advice for the error about an unknown ending. Raises UsageError where the ending contradicts
    `asked`.
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
