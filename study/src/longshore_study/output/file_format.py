"""The format of an output file, from its suffix (`.csv`) and from --format."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from longshore_study.base.errors import UsageError


def of_file(output: Path | None, asked: str | None, endings: Mapping[str, Sequence[str]], otherwise: str) -> str | None:
    """The format of `output`. `asked` is the format that the user gave, or None. `endings` has the
    formats of each suffix, the usual format first.

    If there is no file, or its name has no suffix, the result is `asked`. A file with an unknown
    suffix needs `asked`; `otherwise` is the advice of the error. Raises UsageError if the suffix
    contradicts `asked`.
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
